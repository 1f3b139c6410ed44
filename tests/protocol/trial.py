# SPDX-License-Identifier: Apache-2.0
"""Random histories of one store, and what must hold after each crash: checks, damage, flavours."""
import random
from disk import Crash, Disk, NSEC, ZERO
from engine import Poisoned, Reader, Store
from pages import (FULL, LAZY, NAME, Corrupt, Geometry, Torn, choose, has_header, header, reachable,
                   sealed, slot_meta, unfinished, walk)


class Violation(Exception):
    pass


class World:
    """What the outside knows: every attempted snapshot, what was acknowledged, what was visible."""

    def __init__(self):
        self.n = 0
        self.known = {}                 # ghost serial -> Snap
        self.acked = self.shown = 0
        self.older = None               # what use_previous_commit would open
        self.states = {0: {}}           # serial -> state, from the changes asked for alone
        self.last = 0                   # the newest staged or accepted one

    def serial(self):
        self.n += 1
        return self.n

    def opened(self, serial):
        self.last = serial

    def staged(self, serial, changes):
        """Writers come one after the other, whatever they build on."""
        state = {**self.states.get(self.last, {}), **changes}
        self.states[serial] = {k: v for k, v in state.items() if v}
        self.last = serial

    def attempt(self, s, same=None):
        self.known[s.serial] = s
        if same:
            self.states[s.serial] = self.states[same.serial]

    def ack(self, s):
        self.acked = self.shown = s.serial

    def show(self, s):
        self.shown = s.serial

    def replaced(self, a, b):
        """b is a durable twin of a: what lay between was rejected, or given up on request."""
        for k in [k for k in self.known if a.serial < k < b.serial]:
            del self.known[k]
        self.last = b.serial

    def settle(self, serial):
        """Recovery answered `serial`: newer attempts are rolled back and must never return."""
        for k in [k for k in self.known if k > serial]:
            del self.known[k]
        self.shown = serial


def clone(w):
    c = World()
    c.n, c.known, c.acked, c.shown, c.older = w.n, dict(w.known), w.acked, w.shown, w.older
    c.states, c.last = dict(w.states), w.last
    return c


def intact(f, snap, what, slots=False):
    for pg, c in snap.content.items():
        if f.read(pg) != c and (slots or c[0][0] != 'bm'):      # a reader needs no bitmaps
            raise Violation(f'{what}: page {pg} of txn {snap.txn} changed')
    if snap.hwm > f.size:
        raise Violation(f'{what}: file shorter than the snapshot')


def inspect(disk, world, geo, bugs=(), trust_seal=True, check_previous=True):
    """Open read-only and check everything. -> serial of the recovered state (0 = no store)."""
    world.older = None
    f = disk.lookup(NAME) if disk.has_dir() else None
    if f is None or not f.size:
        return 0
    good, _ = choose(f, geo, bugs, trust_seal=trust_seal)
    if not good:
        if unfinished(f, bugs):
            return 0
        raise Corrupt()
    world.older = good[1][1].serial if len(good) == 2 else None
    for i, (_, meta, _) in enumerate(good):
        what = 'recovered' if i == 0 else 'previous'
        if i and not check_previous:
            break
        snap = world.known.get(meta.serial)
        if snap is None:
            raise Violation(f'{what}: a rolled-back state returned, txn {meta.txn}')
        try:
            got, tree = walk(f, meta, geo)
        except Torn as e:
            raise Violation(f'{what}: torn tree at page {e}')
        intact(f, snap, what, True)
        if got.state() != snap.state() or got.state() != world.states[meta.serial]:
            raise Violation(f'{what}: state differs')
        if got.used != reachable(tree, meta, geo):
            raise Violation(f'{what}: allocation state is not reachability')
    return good[0][1].serial


# -- damage: not a crash, but somebody or something changed the file ---------------------------
FOREIGN = ('foreign',) * NSEC


def cut(pages, keep=NSEC):
    """Truncate; keep < 8: in the middle of the last page (missing sectors read as zero)."""
    def do(f):
        f.dsize = pages
        f.drop_tail()
        if pages and keep < NSEC:
            f.dur[pages - 1] = f.dur.get(pages - 1, ZERO)[:keep] + ZERO[keep:]
    return do


def put(sectors, *pages):
    def do(f):
        for pg in pages:
            if pg < f.dsize:
                f.dur[pg] = sectors + f.dur.get(pg, ZERO)[len(sectors):]
    return do


def damages(f, rng):
    """Single damages of this file, then pairs. (name, functions)"""
    n = f.size
    one = [('empty', cut(0))] + [(f'cut to {i} pages', cut(i)) for i in range(1, n)]
    one += [(f'cut in slot {s}, sector {k}', cut(s + 1, k)) for s in (0, 1) for k in range(1, NSEC)]
    one += [('zero slot 0', put(ZERO, 0)), ('zero slot 1', put(ZERO, 1)),
            ('zero both slots', put(ZERO, 0, 1)), ('foreign first sector', put(FOREIGN[:1], 0)),
            ('foreign slot 0', put(FOREIGN, 0)),
            ('foreign first sector, zero slot 1',
             lambda f: (put(FOREIGN[:1], 0)(f), put(ZERO, 1)(f))),
            ('foreign file', put(FOREIGN, *range(n))), ('zero first sector', put(ZERO[:1], 0)),
            ('zero a page', put(ZERO, rng.randrange(2, n)) if n > 2 else cut(0))]
    single = [(name, (fn,)) for name, fn in one]
    return single, [(f'{a} + {b}', (fa, fb)) for a, fa in one for b, fb in one if a != b]


def image(f):
    return f.dsize, {pg: c for pg, c in f.dur.items() if c != ZERO}


def later_left(f):
    """Is there anything left that only a commit after the first can have written? (whole pages and
    first sectors of slots)"""
    if f.read(1) not in (None, ZERO):
        return True
    s = f.read(0)[0]
    if s and s[0] == 'M' and s[2].txn > 1:
        return True
    for pg in range(2, f.size):
        try:
            if has_header(f.read(pg)) and header(f.read(pg), pg)[2] > 1:
                return True
        except Torn:
            pass
    return False


def settled(disk):
    d = disk.copy()
    d.flush_dir()
    for f in d.names.values():
        f.settle()
        f.ghost = {}
    return d


def newest_sealed(f):
    """The newest slot, if it is sealed."""
    slots = [(m.txn, m, s) for s in (0, 1) for m in [slot_meta(f.read(s))] if m]
    if not slots:
        return None
    _, m, s = max(slots, key=lambda x: (x[0], sealed(f, x[2], x[1])))
    return m if sealed(f, s, m) else None


def damage(disk, world, rng, geo, bugs, pick, counts):
    """Damage copies of the store; none of them may open as new while a durable commit exists, and
    no byte may be lost."""
    f = settled(disk).lookup(NAME) if disk.has_dir() else None
    if f is None or not f.size:
        return
    single, pairs = damages(f, rng)
    todo = single + pairs
    if pick is not None:
        todo = rng.sample(single, min(pick, len(single))) + rng.sample(pairs, pick // 3)
    snap = world.known.get(world.acked)
    born = snap.root[1] if snap else 0      # the commit that made the durable state (not a twin)
    whole = newest_sealed(f)
    for name, fns in todo:
        d = settled(disk)
        f = d.lookup(NAME)
        for fn in fns:
            fn(f)
        was, w = image(f), clone(world)
        try:
            st = Store(d, w, rng, geo, bugs)
            how = 'opened' if st.cur else 'new'
        except Corrupt:
            how = 'refused'
        except Torn:
            how = 'torn'                                       # a reader's page checksum notices
        if image(f) != was or f not in d.files():
            raise Violation(f'{name}: bytes destroyed ({how})')
        if how != 'new' and d.lookup(NAME) is not f:
            raise Violation(f'{name}: renamed ({how})')
        if how == 'opened':
            s = w.known.get(st.cur.serial)
            if s is None or s.state() != st.cur.state():
                raise Violation(f'{name}: a state that never was')
            if st.cur.serial < world.acked:
                how = 'opened, older'
        if name.startswith('cut to') and len(fns) == 1 and f.size > 1 and whole:
            if how == 'opened, older':
                raise Violation(f'{name}: sealed, lost its end, opened at an older commit')
        if how == 'new' and was[0]:
            check_set_aside(d, w, f, name, len(fns), born, st, bugs, rng, geo)
            how = 'set aside' if born else 'set aside, never durable'
        how = 'new, length 0' if how == 'new' else how
        counts[how] = counts.get(how, 0) + 1


def check_set_aside(d, w, f, name, count, born, st, bugs, rng, geo):
    was = image(f)
    if st.f is f:
        raise Violation(f'{name}: new store on top of the old one')
    if f.read(0)[0] == FOREIGN[0]:
        raise Violation(f'{name}: foreign file set aside')
    if count == 1 and (born > 1 or (born and name.startswith('cut'))):
        raise Violation(f'{name}: a store with {born} commits opened as new')
    if born and later_left(f):
        raise Violation(f'{name}: opened as new, though later commits are in the file')
    if rng.random() < .3:                              # the same again: what is set aside stays
        st.commit({0: (1, 1)})
        f2 = st.f
        f2.settle()
        put(ZERO, 0, 1)(f2)
        was2 = image(f2)
        Store(d, w, rng, geo, bugs)
        kept = all(x in d.files() for x in (f, f2)) and image(f) == was and image(f2) == was2
        if not kept:
            raise Violation(f'{name}: remains overwritten by later remains')


FLAVOURS = {
    # a bit of everything
    'mixed':    dict(),
    # allocation state in region bitmaps
    'regions':  dict(keys=(16, 28)),
    # failing flushes and writes, full disk, eviction afterwards
    'failing':  dict(fail=.08, eio=.01, cap=.3),
    # read-only processes between any two steps of the writer
    'second':   dict(second=True, keys=(6, 16)),
    # crashes and failing writes around the first commits, same transaction retried
    'creation': dict(short=True, eio=.05),
    # rejected slots, same transaction retried
    'twin':     dict(twin=True, twins=.2),
    # extents only, same transaction retried with other values at the same places
    'retold':   dict(twin=True, retold=True, keys=(2, 3)),
    # clean closes, slots that lose one sector
    'seal':     dict(seal=True, keys=(2, 4)),
    # one flush does nothing, power goes before the next one returns
    'lying':    dict(lying=True),
    # after every crash or close: damaged copies of the file
    'damage':   dict(damage=12, keys=(2, 6), twins=.2),
    # compaction in every commit, lowest page first
    'tidy':     dict(tidy=True, keys=(8, 24)),
    # three writers and a flusher, step by step (R21)
    'group':    dict(group=True),
    # the same in region bitmaps
    'broad':    dict(group=True, keys=(16, 28), twins=.3),
    # the same beside read-only processes
    'crowd':    dict(group=True, second=True, keys=(6, 16), twins=.3),
    # the same with failing flushes and writes, full disk
    'broken':   dict(group=True, fail=.08, eio=.01, cap=.3, keys=(3, 24)),
    # the same on a disk that drops one flush
    'liars':    dict(group=True, lying=True, twins=.2),
    # large commits that make room by a space twin (R22)
    'space':    dict(twins=.8, keys=(4, 14), big=.5),
}


class Trial:
    def __init__(self, seed, flavour, bugs=()):
        self.rng = rng = random.Random(f'{flavour}-{seed}')
        self.o = o = FLAVOURS[flavour]
        self.bugs = frozenset(bugs)
        lo, hi = o.get('keys', (3, 9))
        self.keys = rng.randint(lo, hi)
        copies = 2 if 'two_copies' in bugs else 3 if 'three_copies' in bugs else 4
        self.geo = Geometry(manifest=60 if o.get('lying') else rng.choice((8, 12, 20)),
                            copies=copies)
        self.disk = Disk(rng)
        self.disk.split = bool(o.get('group') or o.get('twins'))
        self.world = World()
        self.table, self.ros = {}, []
        self.crashes = self.commits = self.twins = self.joined = self.opened = 0
        self.damaged = {}
        self.trust = not o.get('lying')
        self.disk.atomic_slots, self.disk.torn_slots = bool(o.get('lying')), bool(o.get('seal'))
        if o.get('cap') and rng.random() < o['cap']:
            self.disk.cap = rng.randint(10, 40)
        if o.get('second'):
            self.disk.hook = self.hook

    # a second process takes a step between two steps of the writer
    def hook(self):
        rng = self.rng
        if len(self.ros) < 2 and rng.random() < .08:
            name = rng.random()
            self.ros.append(Reader(self.disk, self.world, self.geo, self.table, name, self.bugs))
        for r in list(self.ros):
            x = rng.random()
            if r.stage < 3 and x < .3:
                r.step()
            elif r.stage == 3 and x < .02:
                self.check_ro(r)
                r.leave()
                self.ros.remove(r)
            elif r.stage == 3 and x < .1:
                self.check_ro(r)
                if len(r.held) > 1:
                    r.drop()
                elif x < .06:
                    r.refresh()

    def check_ro(self, r):
        for snap in r.held.values():
            if snap is None:
                raise Violation('second process sees an unknown state')
            intact(self.disk.lookup(NAME), snap, 'second process')

    def changes(self):
        rng = self.rng
        out = {}
        big = rng.random() < self.o.get('big', .1)
        for _ in range(rng.randint(1, self.keys if big else 3)):
            k = rng.randrange(self.keys)
            if rng.random() < .2:
                out[k] = None
            else:
                pages = (1, 1, 1, 2, 3) if not self.o.get('retold') else (2, 3)
                out[k] = (rng.choice(pages), rng.randrange(3))
        if rng.random() < .04:
            out = {k: None for k in range(self.keys)}
        if self.retry and (self.o.get('twin') or (self.o.get('short') and rng.random() < .9)):
            if self.o.get('retold'):
                return {k: v and (v[0], rng.randrange(2)) for k, v in self.retry.items()}
            return self.retry
        self.retry = out
        return out

    retry = None

    def open_store(self):
        rng, o = self.rng, self.o
        previous = rng.random() < .05 and not o.get('lying')
        if previous and self.world.older is not None:
            self.world.acked = self.world.older              # asked for: the newest state may go
        tidy = bool(o.get('tidy') or o.get('retold') or (o.get('twins') and rng.random() < .5))
        st = Store(self.disk, self.world, rng, self.geo, self.bugs, previous, self.trust,
                   self.table, tidy, o.get('twins', 0))
        if st.cur:
            if not previous and st.cur.serial < self.opened:
                raise Violation('a writing open recovers an older state than a reading one')
            for r in self.ros:
                self.check_ro(r)
            if not previous:
                self.world.settle(st.cur.serial)
        elif self.opened:
            raise Violation('a store became empty')
        return st

    def session(self):
        """One writing process until it crashes (raises) or ends (returns)."""
        rng, o = self.rng, self.o
        st = self.open_store()
        lazy = rng.random() < .5
        try:
            if o.get('group'):
                self.group_session(st, lazy)
            else:
                self.lone_session(st, lazy)
        except Poisoned:
            self.kill_ros()
            return
        finally:
            self.twins += st.twins
        if rng.random() < .7 or o.get('tidy'):
            st.readers = []
            st.close()

    def move(self):
        return self.rng.choice((0, 0, 0, 1, 2)) if not self.o.get('tidy') else 2

    def lone_session(self, st, lazy):
        """One thread: each commit ends before the next begins."""
        rng, o = self.rng, self.o
        brief = o.get('short') or o.get('seal')
        for _ in range(rng.randint(1, 4) if brief else rng.randint(2, 12)):
            x = rng.random()
            if x < .75:
                mode = LAZY if lazy and rng.random() < .6 else FULL
                if st.commit(self.changes(), mode, self.move()):
                    self.commits += 1
                    self.retry = None
                elif st.cur:
                    self.world.settle(st.cur.serial)    # an aborted transaction must never appear
            elif x < .78:
                st.flush()
            elif x < .93:
                self.reader_step(st, x < .86)
            else:
                st.trim()
            self.look(st)

    def reader_step(self, st, begin):
        if begin and st.cur and len(st.readers) < 3:
            st.readers.append(st.cur)
        elif not begin and st.readers:
            intact(st.f, st.readers.pop(self.rng.randrange(len(st.readers))), 'reader')

    def look(self, st):
        for s in st.readers:
            intact(st.f, s, 'reader')
        if st.cur:
            intact(st.f, st.cur, 'current', True)

    def group_session(self, st, lazy):
        """Several threads, one step of one of them at a time (R21)."""
        rng = self.rng
        tasks = []
        for _ in range(rng.randint(20, 200)):
            x = rng.random()
            if x < .2 and len(tasks) < 3:
                mode = LAZY if lazy and rng.random() < .6 else FULL
                tasks.append(self.commit_thread(st, mode))
            elif x < .21:
                tasks.append(st.flush_steps())
            elif x < .26:
                self.reader_step(st, x < .24)
            elif x < .27:
                st.trim()
            elif tasks:
                self.advance(tasks, rng.randrange(len(tasks)))
                if self.disk.hook and rng.random() < .5:
                    self.hook()
            if x > .93:
                self.look(st)
        while tasks:
            self.advance(tasks, rng.randrange(len(tasks)))
        self.look(st)

    @staticmethod
    def advance(tasks, at):
        try:
            next(tasks[at])
        except StopIteration:
            tasks.pop(at)

    def commit_thread(self, st, mode):
        before = st.cur
        if (yield from st.commit_steps(self.changes(), mode, self.move())):
            self.commits += 1
            done = st.D if mode == FULL else st.cur
            if not done or (before and done.txn < before.txn):
                raise Violation('a commit was acknowledged and is not there')

    def kill_ros(self):
        self.ros.clear()
        self.table.clear()

    def run(self):
        rng, o, d = self.rng, self.o, self.disk
        for _ in range(rng.randint(3, 8)):
            brief = o.get('short') or o.get('twin') or (o.get('seal') and rng.random() < .7)
            d.fuse = rng.randint(0, 25 if brief else 90)
            d.p_fail = o.get('fail', 0) * (rng.random() < .5)
            d.p_eio = o.get('eio', 0) * (rng.random() < .5)
            d.arm = o.get('lying') and rng.random() < .5
            d.lies = 0
            fails = d.fails
            try:
                self.session()
            except Crash:
                pass
            except Poisoned:
                self.kill_ros()                        # at open
            self.crashes += 1
            d.fuse, d.p_fail, d.p_eio, d.arm = None, 0, 0, False
            hook, d.hook = d.hook, None
            if not self.recover(d.lies, d.fails > fails):
                return
            if o.get('damage'):
                damage(d, self.world, rng, self.geo, self.bugs, o['damage'], self.damaged)
            d.hook = hook

    def recover(self, lied, failed):
        """The end of a process or of the power, and what recovery must answer."""
        rng, o, d, w = self.rng, self.o, self.disk, self.world
        power = lied or (rng.random() < (.7 if not o.get('second') else .3))
        if power:
            self.kill_ros()
            d.power_cut()
            floor = w.acked
        else:
            floor = max(w.acked, w.shown)
            if failed and rng.random() < .6:
                d.evict()
            if failed or d.fails:
                floor = w.acked
        try:
            got = inspect(d, w, self.geo, self.bugs, self.trust, not lied)
            again = inspect(d, w, self.geo, self.bugs, self.trust, not lied)
        except Corrupt:
            if lied:
                return False                           # detected
            raise Violation('no acceptable slot')
        if again != got:
            raise Violation('recovery is not idempotent')
        if lied:
            return False                               # fell back, or nothing was lost
        if got < floor:
            raise Violation(f'lost: recovered {got}, promised {floor}')
        w.settle(got)
        if power:
            w.acked = got                              # all of it is on the platter now
        self.opened = got
        return True


def one(seed, flavour, bugs=()):
    t = Trial(seed, flavour, bugs)
    try:
        t.run()
    except Violation as e:
        return t, str(e)
    except Corrupt:
        return t, 'no acceptable slot at a writing open'
    except (Torn, KeyError, TypeError, ValueError, AttributeError) as e:
        if not bugs:
            raise
        return t, f'{type(e).__name__} {e}'
    return t, None
