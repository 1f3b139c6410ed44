# SPDX-License-Identifier: Apache-2.0
"""What lies in the file and how it is read: pages, slots, choosing a slot (R13, R14, R17).

A checksum is modelled by the content itself: "checksum matches" = "content equal".
`bugs` holds names from bugs.py.
"""
from collections import namedtuple
from disk import NSEC, ZERO

NAME = 'data.mdb'
FULL, LAZY = 'full', 'lazy'
# serial is a ghost field: it exists for the checker, the protocol never looks at it.
# bits: ('inline', frozenset of pages) or ('region', tuple of selected copies)
# base: txn of the durable snapshot in the other slot when this one was written
Meta = namedtuple('Meta', 'serial uuid txn base root hwm bits manifest')


class Corrupt(Exception):
    """FILE_CORRUPT: no acceptable slot, and more than an unfinished creation leaves behind."""


class Torn(Exception):
    """A reachable page is not what its parent expects (a reader would see garbage)."""


class Geometry:
    """Scaled-down sizes; the product: 8,192 inline pages, regions of 16,384, 4 copies, 52+ runs."""
    def __init__(self, inline=22, region=34, copies=4, manifest=12, fan=4):
        self.inline, self.region, self.copies = inline, region, copies
        self.manifest, self.fan = manifest, fan

    def start(self, r):
        return self.inline if r == 0 else r * self.region

    def reserved(self, pg):
        s = self.start(pg // self.region)
        return s <= pg < s + self.copies


# -- pages -------------------------------------------------------------------------------------
def seen_first(kind, body):
    """What of the body lies in the first page: of an extent of several pages not the whole."""
    return body[:2] + (body[2] // 2,) if kind == 'leaf' and body[1] > 1 else body


def page(kind, pg, born, body):
    """The first page of an extent. Header in the first sector, its last part the extent's checksum,
    which is modelled by the whole body; the rest does not contain the txn, so that old and new
    versions share sectors."""
    first = seen_first(kind, body)
    return ((kind, pg, born, first, body),) + tuple((first, 0, i) for i in range(1, NSEC))


def more(body, j):
    """Continuation page of an overflow extent: no header at all."""
    return tuple((body, j, i) for i in range(NSEC))


def has_header(content):
    h = content[0] if content else None
    return isinstance(h, tuple) and len(h) == 5


def sum_of(content):
    """The sum of a page: without the checksum field, if a header begins it."""
    if content and has_header(content):
        return (content[0][:4],) + content[1:]
    return content


def header(content, pg, kind=None):
    """Page-local check: checksum, page number, kind. -> (kind, page, born, body)"""
    h = content[0] if has_header(content) else None
    if not h or h[1] != pg or content != page(*h[:3], h[4]) or (kind and h[0] != kind):
        raise Torn(pg)
    return h[:3] + h[4:]


def slot_page(meta, seal):
    return tuple(('M', i, meta) for i in range(NSEC - 1)) + (seal,)


def slot_meta(content):
    if not content or not content[0]:
        return None
    m, sectors = content[0][2], enumerate(content[:-1])
    return m if all(s and s[0] == 'M' and s[1] == i and s[2] == m for i, s in sectors) else None


class Snap:
    """An immutable snapshot: what a reader holds. meta is None until its slot is composed."""
    def __init__(self, serial, txn, meta, used, root, branches, leaves, content):
        self.serial, self.txn, self.meta = serial, txn, meta
        self.used, self.root = used, root                       # root: (page, born)
        self.branches, self.leaves = branches, leaves           # {i: (page, born, children)}, ...
        self.content = content                  # {page: content}, trees and selected bitmap copies
        self.hwm = meta.hwm if meta else max(used) + 1
        self.bits = meta.bits if meta else None
        self.fresh = ()                         # pages that its transaction wrote
        self.failed = False                     # it was staged, and will never have a slot

    def state(self):
        return {k: (v[1], v[2]) for k, v in self.leaves.items()}


def walk(f, meta, geo):
    """Read every page reachable from a slot. Raises Torn. leaves: {key: (page, n, value, born)}"""
    content, branches, leaves = {}, {}, {}

    def get(pg):
        c = f.read(pg)
        if c is None:
            raise Torn(pg)
        content[pg] = c
        return c
    h = header(get(meta.root), meta.root, 'root')
    for bi, bp in enumerate(h[3]):
        if bp is None:
            continue
        b = header(get(bp), bp, 'br')
        branches[bi] = (bp, b[2], b[3][1])
        for ci, lp in enumerate(b[3][1]):
            if lp is None:
                continue
            x = header(get(lp), lp, 'leaf')
            key, n, value = x[3]
            if key != bi * geo.fan + ci:
                raise Torn(lp)
            for j in range(1, n):
                if get(lp + j) != more(x[3], j):
                    raise Torn(lp + j)
            leaves[key] = (lp, n, value, x[2])
    tree = set(content)
    kind, bits = meta.bits
    if kind == 'inline':
        used = bits
    else:
        used = set()
        for r, sel in enumerate(bits):
            pg = geo.start(r) + sel
            b = header(get(pg), pg, 'bm')
            if b[3][0] != r:
                raise Torn(pg)
            used |= b[3][1]
    root = (meta.root, h[2])
    return Snap(meta.serial, meta.txn, meta, frozenset(used), root, branches, leaves, content), tree


def with_places(tree, geo):
    """Tree pages -> the used pages of a snapshot: with the bitmap places, if it has any."""
    if max(tree) < geo.inline:
        return frozenset(tree)
    regions = max(tree) // geo.region + 1
    places = {geo.start(r) + i for r in range(regions) for i in range(geo.copies)}
    return frozenset(tree | places)


def reachable(tree, meta, geo):
    """What the allocation state must be: tree pages plus the reserved bitmap places."""
    want = set(tree)
    if meta.bits[0] == 'region':
        for r in range(len(meta.bits[1])):
            want |= {geo.start(r) + i for i in range(geo.copies)}
    return want


# -- choosing a slot (R13, R14) ----------------------------------------------------------------
def sealed(f, slot, meta, bugs=()):
    other = f.read(1 - slot if 'seal_own_slot' not in bugs else slot)
    seal = other[-1] if other else None
    if 'seal_flag' in bugs:
        return seal is not None
    return seal == ('seal', meta)


def extent_fits(f, pg, content):
    """The checksum in the header of an extent is that of its pages."""
    try:
        body = header(content, pg)[3]
        n = body[1] if content[0][0] == 'leaf' else 1
        return all(f.read(pg + j) == more(body, j) for j in range(1, n))
    except Torn:
        return False


def page_fits(f, pg, want, bugs):
    """Is the page there that a manifest names?"""
    d = f.read(pg)
    if 'page_checksum_only' in bugs:
        try:
            return d is not None and (len(want[0]) != 4 or bool(header(d, pg)))
        except Torn:
            return False
    if d is None or sum_of(d) != want:
        return False
    return not has_header(d) or 'no_extent_sum' in bugs or extent_fits(f, pg, d)


def verified(f, meta, bugs=()):
    if 'no_verify' in bugs:
        return True
    return meta.hwm <= f.size and all(page_fits(f, pg, s, bugs) for pg, s in meta.manifest)


def choose(f, geo, bugs=(), previous=False, trust_seal=True):
    """-> (accepted [(slot, meta, sealed)] newest first, rejected [(slot, meta)], valid ones)."""
    good, bad = [], []
    for slot in (0, 1):
        m = slot_meta(f.read(slot))
        if m is None:
            continue
        s = sealed(f, slot, m, bugs)
        if s and m.hwm > f.size and 'sealed_loss' not in bugs:
            return [], [(slot, m)]      # R14: it was durable and whole: the file has lost its end
        if (s and trust_seal and m.hwm <= f.size) or verified(f, m, bugs):
            good.append((slot, m, s))
        else:
            bad.append((slot, m))
    good.sort(key=lambda x: (-x[1].txn, not x[2]))  # R22: equal txn: the sealed one
    newer = good and [m for _, m in bad if m.txn > good[0][1].txn]
    if newer and newer[0].base != good[0][1].txn and 'no_base' not in bugs:
        return [], bad            # R14: the slot this one relied on is gone: a flush was dropped
    if previous and len(good) == 2 and good[0][1].txn > good[1][1].txn:
        bad.append(good.pop(0)[:2])
    return good, bad


def unfinished(f, bugs=()):
    """R17, when no slot is acceptable. True: a creation that never finished. False: damage, or
    not our file."""
    if f.read(1) not in (None, ZERO) or 'creation_corrupt' in bugs:
        return False                                            # a second commit or a seal
    if 'creation_too_eager' in bugs:
        return True
    if f.size < 3 and 'creation_any_size' not in bugs:
        return False                                # creation sets the size before anything else
    head = f.read(0)[0]                                         # first sector: magic, txn, hwm
    if head is not None:
        if not (isinstance(head, tuple) and head[:2] == ('M', 0)):
            return 'creation_foreign' in bugs
        too_long = head[2].hwm > f.size and 'creation_any_size' not in bugs
        if head[2].txn > 1 or too_long:
            return False
    for pg in range(2, f.size if 'creation_no_scan' not in bugs else 0):
        try:
            if header(f.read(pg), pg)[2] > 1:
                return False                # born in a later commit, so the first one was durable
        except Torn:
            pass
    return True
