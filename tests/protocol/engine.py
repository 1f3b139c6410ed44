# SPDX-License-Identifier: Apache-2.0
"""The commit and recovery protocol (docs/format.md and README.md here), on the simulated disk.

What several threads may do at once is written as generators: between two yields nothing else of
this process runs, at a yield anything may. `drain` runs one of them with nobody else around.
"""
from disk import NSEC, ZERO, IOFail
from pages import (FULL, LAZY, NAME, Corrupt, Meta, Snap, choose, header, more, page, sealed,
                   slot_meta, slot_page, sum_of, unfinished, walk, with_places)


class Poisoned(Exception):
    """A flush or a slot write failed: outcome unknown, no more writes by this process."""


def drain(steps):
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value


class Build:
    """What a write transaction has made so far: pages to write, pages freed."""

    def __init__(self, base, txn):
        self.base, self.txn = base, txn
        self.leaves = dict(base.leaves) if base else {}
        self.branches = dict(base.branches) if base else {}
        content = base.content if base else {}
        self.content = {p: c for p, c in content.items() if c[0][0] != 'bm'}
        self.fresh, self.freed = {}, []
        self.taken, self.own_free = set(), set()
        self.has_twin = False

    def put(self, pg, content):
        self.content[pg] = self.fresh[pg] = content

    def release(self, pg, n, born):
        for q in range(pg, pg + n):
            self.content.pop(q, None)
            self.fresh.pop(q, None)
            if born != self.txn:
                self.freed.append((q, born, self.txn))
                self.own_free.add(q)
            self.taken.discard(q)


class Store:
    """One writing process."""

    def __init__(self, disk, world, rng, geo, bugs=(), previous=False, trust_seal=True, table=None,
                 tidy=False, p_twin=0):
        self.disk, self.world, self.rng, self.geo, self.bugs = disk, world, rng, geo, bugs
        self.table = table if table is not None else {}  # second processes: {entry: (txn, hwm)}
        self.tidy = tidy                        # always lowest address first
        self.p_twin = p_twin                    # how often R22 is done where it may be
        self.cur = self.D = self.P = None       # visible, last durable, the one in the other slot
        self.slotD = None
        self.head = None                        # R21: newest staged one, else cur: the next base
        self.flight = None                      # R21: the one whose slot is written or flushed
        self.staged = []                        # staged since the last pick
        self.writing = self.flushing = False    # the writer lock; the flusher's role
        self.flush_runs = False
        self.seen = 0                           # highest txn ever seen in a valid slot
        self.recent, self.before = {}, {}       # sums of pages since the last / second-last flush
        self.pending = []                       # (page, born, freed)
        self.readers = []                       # live snapshots of this process
        self.poisoned = False
        self.names_dirty = False
        self.known, self.known_from = set(), 0  # snapshots whose freed pages we know completely
        self.unfenced = None                    # what the fence still has to do
        self.twins = 0
        self.open(previous, trust_seal)

    # -- open = choose a slot (R13, R14, R17); nothing is written ---------------------------------
    def open(self, previous, trust_seal):
        d = self.disk
        if not d.has_dir():
            d.mkdir()
        f, good = d.lookup(NAME), None
        if f is not None and f.size:
            good, bad = choose(f, self.geo, self.bugs, previous, trust_seal)
            if not good:
                if not unfinished(f, self.bugs):
                    raise Corrupt()
                # R17: nothing was ever acknowledged: set the remains aside, start over
                if 'creation_in_place' not in self.bugs:
                    self.set_aside()
                    f = None
        if f is None:
            f = d.create(NAME)
        self.f = f
        if not good:
            self.names_dirty = True
            self.world.opened(0)
            self.uuid = self.rng.getrandbits(32) if 'creation_in_place' not in self.bugs else 7
            return
        slot, meta, is_sealed = good[0]
        self.uuid = meta.uuid
        self.cur, _ = walk(f, meta, self.geo)
        self.world.opened(meta.serial)
        self.head = self.cur
        self.seen = max(m.txn for _, m in [x[:2] for x in good] + bad)
        self.before = dict(meta.manifest)
        newer = any(m.txn > meta.txn for _, m in bad)
        self.unfenced = (slot, is_sealed, newer, good[1][1] if len(good) == 2 else None)
        if is_sealed and not newer:
            self.fence()                        # nothing to write

    def set_aside(self):
        aside, i = NAME + '.unfinished', 0
        while self.disk.lookup(aside) is not None and 'aside_overwrites' not in self.bugs:
            i += 1
            aside = f'{NAME}.unfinished.{i}'
        self.disk.rename(NAME, aside)

    def fence(self):
        """R15, R16: before the first write of the session, make what we accepted durable and leave
        no newer slot. Nothing is staged meanwhile: the writer lock is held."""
        if self.unfenced is None:
            return
        (slot, is_sealed, newer, older), self.unfenced = self.unfenced, None
        meta = self.cur.meta
        if 'no_fence' not in self.bugs and not is_sealed:
            # it may exist in the page cache only, perhaps marked clean by a failed flush
            if 'fence_no_rewrite' not in self.bugs:
                for pg, s in meta.manifest:
                    if sum_of(self.f.read(pg)) != s and not self.bugs:
                        self.poison()           # it changed since we verified it
                    self.write(pg, self.f.read(pg))
                if 'fence_keeps_slot' not in self.bugs:
                    self.write(slot, self.f.read(slot))
            self.names_dirty = 'fence_no_dirsync' not in self.bugs
            drain(self.sync())
            self.before, self.recent = dict(meta.manifest), {}
        self.D, self.slotD = self.cur, slot
        self.world.ack(self.cur)
        if newer and 'no_twin' not in self.bugs and 'no_fence' not in self.bugs:
            self.twin()
        elif older:
            self.P, _ = walk(self.f, older, self.geo)
            # freed between the two snapshots; when they were born is unknown: as if always there
            freed = [p for p in self.P.used - self.D.used if not self.geo.reserved(p)]
            self.pending = [(p, 0, self.D.txn) for p in freed]
        self.known = {s.txn for s in (self.D, self.P) if s}
        self.known_from = self.D.txn

    # -- primitives ------------------------------------------------------------------------------
    def write(self, pg, content):
        try:
            self.disk.write(self.f, pg, content)
        except IOFail:
            self.poison()

    def poison(self):
        self.poisoned = True
        raise Poisoned()

    def check_alive(self):
        if self.poisoned:
            raise Poisoned()

    def sync(self):
        """R3: all that was written before becomes durable, or the store is poisoned."""
        dirty = self.disk.flush_start(self.f)
        self.flush_runs = True
        yield
        self.flush_runs = False
        try:
            self.disk.flush_end(self.f, dirty)
        except IOFail:
            if 'retry_flush' not in self.bugs:
                self.poison()
            try:
                self.disk.flush(self.f)
            except IOFail:
                self.poison()
        if self.names_dirty:
            if 'no_dirsync' not in self.bugs:
                self.disk.flush_dir()
                self.disk.flush_parent()
            self.names_dirty = False

    def promote(self, snap, slot):
        """snap is durable in slot; what the other slot holds is now the previous one."""
        self.P, self.D, self.slotD = self.D, snap, slot

    def target(self):
        return 0 if self.D is None else 1 - self.slotD

    def twin(self):
        """R16: a second copy of the durable snapshot in the other slot, under a higher txn id."""
        old = self.cur
        m = old.meta._replace(serial=self.world.serial(), txn=self.seen + 1, base=self.D.txn)
        s = Snap(m.serial, m.txn, m, old.used, old.root, old.branches, old.leaves, old.content)
        self.world.attempt(s, old)
        slot = self.target()
        self.write(slot, slot_page(m, None))
        drain(self.sync())
        self.before, self.recent = dict(m.manifest), {}
        self.seen = m.txn
        self.world.replaced(old, s)
        self.cur = self.head = s
        self.promote(s, slot)
        self.world.ack(s)

    # -- allocation (R6..R9) ---------------------------------------------------------------------
    def pins(self):
        """Transactions whose pages must not change, as this process knows them."""
        b, held = self.bugs, []
        if 'reuse_reader' not in b:
            held += self.readers
        if 'reuse_durable' not in b:
            held.append(self.D)
        if 'reuse_previous' not in b:
            held.append(self.P)
        if 'group_pin_missing' not in b:
            held.append(self.flight)
        if 'group_cur_unpinned' not in b:
            held.append(self.cur)
        return [s.txn for s in held if s]

    def begin(self):
        """R12: first D, P and what else is on disk, then the table: a process that pins after the
        second look finds its slot replaced, or pins a snapshot that the first look saw."""
        pins = self.pins() if 'table_before_pins' not in self.bugs else None
        yield
        entries = list(self.table.values())
        yield
        self.block(pins if pins is not None else self.pins(), entries)

    def block(self, pins, entries):
        """Free pages = neither used nor seen by a pin. Once per write transaction, again in R22."""
        if 'ro_ignored' not in self.bugs:
            pins = pins + [t for t, _ in entries]
        if 'born_off_by_one' in self.bugs:
            seen = lambda b, z: any(b < r < z for r in pins)
        elif 'freed_off_by_one' in self.bugs:
            seen = lambda b, z: any(b <= r < z - 1 for r in pins)
        else:
            seen = lambda b, z: any(b <= r < z for r in pins)
        self.pending = [x for x in self.pending if seen(x[1], x[2])]
        self.blocked = {x[0] for x in self.pending}
        self.entries = entries
        # R12: a reader of an earlier writer's time, of which we do not know what it sees
        strange = self.D is not None and 'ro_unknown' not in self.bugs and any(
            t < self.known_from and t not in self.known for t, _ in entries)
        self.low = max(2, self.f.size) if strange else 2

    def is_free(self, b, pg):
        if pg in b.taken or pg in self.blocked or self.geo.reserved(pg):
            return False
        if b.base is None or pg not in b.base.used:
            return True
        return pg in b.own_free and ('reuse_current' in self.bugs or (
            b.has_twin and 'twin_frees_own' in self.bugs))

    def find(self, b, n, skip=0):
        pg = self.low
        while True:
            for i in range(n):
                if not self.is_free(b, pg + i):
                    pg += i + 1
                    break
            else:
                if not skip:
                    return pg
                skip -= 1
                pg += 1

    def alloc(self, b, n):
        skip = 0 if self.tidy or self.rng.random() < .6 else self.rng.randrange(4)
        pg = self.find(b, n, skip)
        if pg + n > self.f.size and self.twin_helps(b) and self.rng.random() < self.p_twin:
            yield from self.space_twin(b)
            pg = self.find(b, n, skip)
        b.taken.update(range(pg, pg + n))
        return pg

    # -- the space twin (R22) --------------------------------------------------------------------
    def twin_helps(self, b):
        """Is there something pending that neither readers nor read-only processes hold?"""
        if not self.p_twin or b.has_twin or not self.D or not self.P or self.low > 2:
            return False
        held = [s.txn for s in self.readers] + [t for t, _ in self.entries]
        return any(not any(born <= r < z for r in held) for _, born, z in self.pending)

    def space_twin(self, b):
        """P is given up: its slot gets the durable snapshot once more, under the same txn."""
        b.has_twin = True
        while self.head is not self.D or self.flushing:
            self.check_alive()
            if b.base.failed:
                return
            if 'twin_drops_lazy' in self.bugs and not self.flushing:
                break
            if self.flushing:
                yield
            else:
                yield from self.flusher(True)
        self.flushing = True
        try:
            live = {p: s for p, s in self.before.items() if sum_of(self.D.content.get(p)) == s}
            meta = self.D.meta._replace(base=self.D.txn, manifest=tuple(live.items()))
            self.write(self.target(), slot_page(meta, None))
            if 'twin_unflushed' not in self.bugs:
                yield from self.sync()
                self.before = {}
            self.P = self.D
        finally:
            self.flushing = False
        self.twins += 1
        if 'twin_table_stale' in self.bugs:
            self.block(self.pins(), self.entries)
        else:
            yield from self.begin()

    # -- a write transaction (R1, R6, R7, R10, R19), up to staging (R21) --------------------------
    def build(self, b, changes, move):
        """The new trees in memory, all their pages at free places."""
        geo, leaves, branches = self.geo, b.leaves, b.branches
        work = dict(changes)
        # R19: relocate extents whose own page or parent lies highest, if there is room further down
        high = lambda k: max(leaves[k][0], branches[k // geo.fan][0])
        rest = sorted((k for k in leaves if k not in work), key=high, reverse=True)
        for key in rest[:move]:
            if self.find(b, leaves[key][1]) < high(key):
                work[key] = leaves[key][1:3]
        for key, new in work.items():
            old = leaves.pop(key, None)
            if old:
                b.release(old[0], old[1], old[3])
            if new:
                n, value = new
                pg = yield from self.alloc(b, n)
                body = (key, n, value)
                b.put(pg, page('leaf', pg, b.txn, body))
                for j in range(1, n):
                    b.put(pg + j, more(body, j))
                leaves[key] = (pg, n, value, b.txn)
        for bi in dict.fromkeys(k // geo.fan for k in work):
            if bi in branches:
                b.release(branches[bi][0], 1, branches[bi][1])
            keys = range(bi * geo.fan, (bi + 1) * geo.fan)
            kids = tuple(leaves[k][0] if k in leaves else None for k in keys)
            if any(kids):
                pg = yield from self.alloc(b, 1)
                b.put(pg, page('br', pg, b.txn, (bi, kids)))
                branches[bi] = (pg, b.txn, kids)
            else:
                branches.pop(bi, None)
        if b.base:
            b.release(b.base.root[0], 1, b.base.root[1])
        root = yield from self.alloc(b, 1)
        count = max(branches, default=-1) + 1
        kids = tuple(branches[i][0] if i in branches else None for i in range(count))
        b.put(root, page('root', root, b.txn, kids))
        return root

    def write_data(self, b, hwm):
        """R1: data first; an error here is a clean abort, nothing refers to these pages. The file
        is made long enough for the bitmaps as well, so that the flusher needs no space."""
        old_size = self.f.size
        if self.D is None and 'creation_size_late' not in self.bugs:
            # R17: creation sets the size first; after an aborted attempt, which left some size:
            # make this one durable
            if hwm > old_size:
                self.disk.truncate(self.f, hwm)
            if old_size and 'creation_size_unflushed' not in self.bugs:
                yield from self.sync()
        try:
            if hwm > old_size:
                for pg in range(max(2, old_size), hwm + self.rng.randrange(3)):
                    if pg not in b.fresh:
                        self.disk.write(self.f, pg, ZERO)
            for pg in sorted(b.fresh):
                yield
                self.check_alive()
                self.disk.write(self.f, pg, b.fresh[pg])
        except IOFail:
            return 'write_error_ignored' in self.bugs
        return True

    def write_steps(self, changes, move):
        """-> the staged snapshot, or None: aborted."""
        base = self.head if 'group_builds_on_cur' not in self.bugs else self.cur
        b = Build(base, max(self.seen, base.txn if base else 0) + 1)
        yield from self.begin()
        doomed = lambda: base and base.failed and 'fall_unnoticed' not in self.bugs
        if doomed():
            return None                 # what it took for pending has been taken back
        root = yield from self.build(b, changes, move)
        tree = set(b.content)
        if 'leak' in self.bugs and self.rng.random() < .2:
            tree |= {x[0] for x in b.freed[:1]}
        used = with_places(tree, self.geo)
        snap = Snap(self.world.serial(), b.txn, None, used, (root, b.txn), b.branches, b.leaves,
                    b.content)
        snap.fresh = set(b.fresh)
        if 'group_stage_early' in self.bugs and self.D:
            self.stage(snap, b, changes)
        done = yield from self.write_data(b, snap.hwm)
        if not done or doomed():
            return None
        if 'group_stage_early' not in self.bugs or not self.D:
            self.stage(snap, b, changes)
        if 'group_bitmap_early' in self.bugs:
            self.recent.update(drain(self.write_bitmaps(snap)))
        return snap

    def stage(self, snap, b, changes):
        """R21: the next writer builds on it; nothing on disk names it."""
        self.world.staged(snap.serial, changes)
        self.recent.update({p: sum_of(c) for p, c in b.fresh.items()})
        self.pending += b.freed                                 # R7
        if 'reuse_pending_lost' in self.bugs and self.rng.random() < .3:
            self.pending = []
        self.staged.append(snap)
        self.head = snap

    def fall(self):
        """R21: bitmaps could not be written. Nothing names what is staged: all of it fails, and a
        transaction that is being built on it."""
        for s in self.staged:
            s.failed = True
        self.staged, self.head, self.flight = [], self.cur, None
        txn = self.cur.txn if self.cur else 0
        self.world.opened(self.cur.serial if self.cur else 0)
        self.pending = [x for x in self.pending if x[2] <= txn]

    # -- the flusher (R2..R5, R10, R11, R21) ------------------------------------------------------
    def flusher(self, durable):
        """One at a time: the newest staged snapshot gets its slot and, if durable, its flush."""
        self.flushing = True
        try:
            yield
            if self.head is not self.cur:
                yield from self.fly(self.head, durable)
            elif durable and self.cur is not self.D:
                need, self.recent = self.recent, {}
                yield from self.sync()
                self.before = need
                self.promote(self.cur, self.target())
                self.world.ack(self.cur)
        finally:
            self.flushing = False

    def write_bitmaps(self, snap):
        """R10: a touched region goes to a copy that D, P and the newest slot do not select.
        -> sums of the pages written."""
        geo, cur, written, sel = self.geo, self.cur, {}, []
        if snap.hwm <= geo.inline:
            snap.bits = ('inline', snap.used)
            return written
        holders = [self.D, self.P, cur]
        if 'two_copies' in self.bugs or 'three_copies' in self.bugs:
            holders = holders[:geo.copies - 1]
        sels = [s.meta.bits[1] if s and s.meta.bits[0] == 'region' else () for s in holders]
        cur_sel = cur.meta.bits[1] if cur and cur.meta.bits[0] == 'region' else ()
        for r in range((snap.hwm - 1) // geo.region + 1):
            part = frozenset(p for p in snap.used if p // geo.region == r)
            if r < len(cur_sel):
                pg = geo.start(r) + cur_sel[r]
                if header(cur.content[pg], pg)[3][1] == part:
                    snap.content[pg] = cur.content[pg]
                    sel.append(cur_sel[r])
                    continue
            busy = {s[r] for s in sels if r < len(s)}
            c = min(i for i in range(geo.copies) if i not in busy)
            pg = geo.start(r) + c
            snap.content[pg] = page('bm', pg, snap.txn, (r, part))
            sel.append(c)
            if 'forget_bitmap' not in self.bugs or self.rng.random() >= .2:
                yield
                self.disk.write(self.f, pg, snap.content[pg])
                written[pg] = sum_of(snap.content[pg])
        snap.bits = ('region', tuple(sel))
        return written

    def fly(self, snap, durable):
        geo, bugs = self.geo, self.bugs
        live = lambda g: {p: s for p, s in g.items() if sum_of(snap.content.get(p)) == s}
        self.flight = snap
        taken, self.recent = self.recent, {}
        picked, self.staged = self.staged, []
        try:
            bitmaps = {} if snap.bits else (yield from self.write_bitmaps(snap))
        except IOFail:
            self.staged, self.recent = picked + self.staged, {**taken, **self.recent}
            self.fall()
            return
        # R4: the manifest names all live pages written since the last flush, and as far as it fits
        # those of one flush more
        need = live(taken)
        if 'manifest_forgets' in bugs:
            need = {p: s for p, s in need.items() if p in snap.fresh}
        if 'bitmap_not_in_manifest' not in bugs:
            need.update(bitmaps)
        large = len(need) > geo.manifest
        if large:
            # R5: too much for the manifest: flush first; the visible snapshot becomes durable by
            # the way. The slot is flushed too, in every mode: an unflushed slot may only name pages
            # that are in its manifest or in D.
            if 'large_without_flush' not in bugs:
                yield from self.sync()
                self.before = need
                if self.cur is not self.D:
                    self.promote(self.cur, self.target())
            need = {}
        listed = need
        if 'one_generation' not in bugs:
            extra = live(self.before)
            if need and len(need) + len(extra) <= geo.manifest:
                listed = {**extra, **need}
        slot = self.target()
        if 'lazy_wrong_slot' in bugs and not durable and self.D:
            slot = self.slotD if self.rng.random() < .3 else slot
        base = self.D.txn if self.D else 0
        snap.meta = Meta(snap.serial, self.uuid, snap.txn, base, snap.root[0], snap.hwm, snap.bits,
                         tuple(listed.items()))
        self.world.attempt(snap)
        if 'ack_early' in bugs and durable:
            self.world.ack(snap)
        yield
        try:
            self.disk.write(self.f, slot, slot_page(snap.meta, None))          # R2
        except IOFail:
            if 'slot_error_aborts' not in bugs:
                self.poison()
            self.staged = picked + self.staged
            self.fall()
            return
        self.seen = snap.txn
        if durable or (large and 'lazy_large_one_flush' not in bugs):
            yield from self.sync()                                              # R3: the one flush
            self.before = need
            if 'group_recent_lost' in bugs:
                self.recent = {}
            self.promote(snap, slot)
        else:
            self.recent = {**need, **self.recent}
        self.cur, self.flight = snap, None
        if 'group_ack_all' in bugs and snap is self.D:
            self.world.ack(self.head)
        else:
            (self.world.ack if snap is self.D else self.world.show)(snap)

    # -- commit ----------------------------------------------------------------------------------
    def commit_steps(self, changes, mode=FULL, move=0):
        """changes: {key: (pages, value) or None}; move: relocate so many tail extents (R19).
        -> True: committed; False: it failed, and the store goes on."""
        while self.writing:
            yield
        self.writing = True
        try:
            self.check_alive()
            self.fence()
            first = self.D is None and 'lazy_creation' not in self.bugs
            snap = yield from self.write_steps(changes, move)
            if snap and self.D is None:     # R17: flushed in every mode, nobody stages meanwhile
                yield from self.flusher(mode == FULL or first)
        finally:
            self.writing = False
        if snap is None:
            return False
        while not snap.failed:
            self.check_alive()
            done = self.D if mode == FULL else self.cur
            if done and done.txn >= snap.txn:
                return True
            early = 'group_slot_during_flush' in self.bugs and self.flush_runs
            if self.flushing and not early:
                yield
            else:
                yield from self.flusher(mode == FULL)
        return False

    def flush_steps(self):
        """Make the LAZY commits so far durable."""
        while self.writing:
            yield
        self.check_alive()
        self.fence()
        want = self.cur
        while want and (self.D is None or self.D.txn < want.txn):
            self.check_alive()
            if self.flushing:
                yield
            else:
                yield from self.flusher(True)

    def commit(self, changes, mode=FULL, move=0):
        return drain(self.commit_steps(changes, mode, move))

    def flush(self):
        self.check_alive()
        drain(self.flush_steps())

    # -- truncation (R18), close (R20) -----------------------------------------------------------
    def trim(self):
        """With the writer lock held, so that no transaction is being built."""
        if self.poisoned or self.cur is None or self.unfenced or self.writing:
            return
        snaps = [self.cur, self.D] + ([self.P] if 'trim_previous' not in self.bugs else [])
        snaps += [self.flight, self.head] if 'trim_staged' not in self.bugs else []
        snaps += self.readers if 'trim_reader' not in self.bugs else []
        keep = max(s.hwm for s in snaps if s)
        if 'trim_ro' not in self.bugs:
            keep = max([keep] + [h for _, h in self.table.values()])
        if keep < self.f.size:
            self.disk.truncate(self.f, keep)

    def close(self):
        if self.poisoned or self.cur is None or self.unfenced:
            return
        self.trim()
        if self.cur is self.D or 'seal_early' in self.bugs:
            slot = self.slotD if self.D and self.cur is self.D else self.target()
            if sealed(self.f, slot, self.cur.meta):
                return
            seal = ('seal', self.cur.meta) if 'seal_flag' not in self.bugs else 'SEALED'
            where = 1 - slot if 'seal_own_slot' not in self.bugs else slot
            try:
                self.disk.write_sector(self.f, where, NSEC - 1, seal)
            except IOFail:
                pass


class Reader:
    """A read-only second process (R12): pin, then look again, then map. It runs between the steps
    of the writer. To refresh it does the same once more, under another entry of the table, and
    gives up the older entry when nothing reads that snapshot any more."""

    def __init__(self, disk, world, geo, table, name, bugs=()):
        self.disk, self.world, self.geo, self.table, self.bugs = disk, world, geo, table, bugs
        self.name, self.count = name, 0
        self.stage, self.meta = 0, None
        self.held = {}                          # entry -> snapshot, as the checker knows it

    def step(self):
        f = self.disk.lookup(NAME)
        if f is None or f.size < 3:
            return
        if self.stage == 0:
            good, _ = choose(f, self.geo)
            if good:
                self.meta, self.stage = good[0][1], 1
        elif self.stage == 1:
            if 'ro_refresh_in_place' not in self.bugs:
                self.count += 1
            self.table[self.entry()] = (self.meta.txn, self.meta.hwm)
            self.stage = 2
        elif self.stage == 2:
            now = [slot_meta(f.read(0)), slot_meta(f.read(1))]
            if self.meta in now or 'ro_no_recheck' in self.bugs:
                self.held[self.entry(), self.meta.serial] = self.world.known.get(self.meta.serial)
                self.stage = 3
            else:
                self.table.pop(self.entry())
                self.stage = 0

    def entry(self):
        return self.name, self.count

    def refresh(self):
        self.stage = 0

    def drop(self):
        """The oldest snapshot is not read any more."""
        (entry, _), _ = next(iter(self.held.items()))
        self.held.pop(next(iter(self.held)))
        if entry not in [e for e, _ in self.held]:
            self.table.pop(entry, None)

    def leave(self):
        for entry in [e for e in self.table if e[0] == self.name]:
            del self.table[entry]
        self.held, self.stage = {}, 0
