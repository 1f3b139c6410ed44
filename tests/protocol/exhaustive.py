# SPDX-License-Identifier: Apache-2.0
"""Every crash point of small commits, times every outcome of the un-flushed pages.

Per page: its old content, every cached version, and torn mixtures of the oldest and newest (halves;
for slot pages also each single sector missing and each single sector alone). After each outcome:
check, reopen for writing, commit, check again.
"""
import random
import time
from itertools import product
from disk import Crash, Disk, NSEC
from engine import Store
from pages import FULL, LAZY, NAME, Geometry
from trial import Violation, World, clone, inspect

TINY = Geometry(inline=7, region=14, copies=4, manifest=40)
WIDE = Geometry(inline=40, region=64, copies=4, manifest=40)
SMALL_MANIFEST = Geometry(inline=40, region=64, copies=4, manifest=3)


BUGS = set()


def store(d, w, geo, p_twin=0, **kw):
    s = Store(d, w, random.Random(1), geo, BUGS, tidy=True, p_twin=p_twin, **kw)
    if s.cur:
        if not kw:
            w.settle(s.cur.serial)
        s.fence()
    return s


def base(geo, keys=2):
    def setup(d, w):
        s = store(d, w, geo)
        for i in range(3):
            s.commit({k: (1, i) for k in range(keys)})
        return s
    return setup


def fresh(d, w):
    return None


def crashed_commit(geo, power):
    """A FULL commit stopped before its flush; a power cut keeps the slot and loses one page."""
    def setup(d, w):
        s = base(geo)(d, w)
        d.fuse = 5
        try:
            s.commit({0: (2, 1)})
        except Crash:
            pass
        d.fuse = None
        if power:
            lost = min(p for p in s.f.pend if p > 1)
            d.power_cut(lambda pg, v: v[0] if pg == lost else v[-1])
        got = inspect(d, w, geo, BUGS)
        w.settle(got)
        if power:
            w.acked = got
        return None
    return setup


def half_told(geo):
    """A commit that got as far as its slot; the power fails, and all its data is there."""
    def setup(d, w):
        s = base(geo, 1)(d, w)
        d.fuse = 4
        try:
            s.commit({0: (2, 0)})
        except Crash as e:
            if e.args[0] not in (('write', 0), ('write', 1)):
                raise Violation('the scenario stops elsewhere')
        d.fuse = None
        d.power_cut(lambda pg, v: v[-1])
        w.acked = inspect(d, w, geo, BUGS)
        w.settle(w.acked)
        return None
    return setup


def ops(*steps):
    def run(d, w, s, geo):
        s = s or store(d, w, geo)
        for what, *a in steps:
            getattr(s, what)(*a)
    return run


def previous(d, w, s, geo):
    inspect(d, w, geo, BUGS)
    w.acked = w.older
    store(d, w, geo, previous=True).commit({0: (1, 2)})


def reopened(d, w, s, geo):
    s.close()
    store(d, w, geo).commit({0: (1, 7)})


def finish(tasks):
    """One step of each in turn, until all have ended."""
    while tasks:
        for t in list(tasks):
            if next(t, 'end') == 'end':
                tasks.remove(t)


def side_by_side(mode):
    """Two threads begin at once: one flush may do for both."""
    def run(d, w, s, geo):
        d.split = True
        finish([s.commit_steps({i: (1, 7)}, mode) for i in (0, 1)])
    return run


def during_the_flush(last):
    """While the flush of one commit runs, another one is staged; with `last`, a third one too."""
    def run(d, w, s, geo):
        d.split = True
        first = s.commit_steps({0: (1, 7)})
        while not s.flush_runs:
            next(first)
        others = []
        for changes in ({0: (1, 8)}, {1: (1, 8)})[:1 + last]:
            others.append(s.commit_steps(changes))
            known = s.head
            while s.head is known:
                next(others[-1])
            next(others[-1])
        finish([first] + others)
    return run


def space_twin(mode):
    """A commit before, then one that needs what the previous snapshot holds."""
    def run(d, w, s, geo):
        d.split, s.p_twin = True, 1
        s.commit({0: (1, 6)}, mode)
        s.commit({0: (3, 7), 1: (3, 7)})
        if not s.twins:
            raise Violation('the scenario makes no space twin')
    return run


def twin_then_close(d, w, s, geo):
    """The durable snapshot lies in both slots when the store is closed and opened again."""
    d.split = True
    s.p_twin = 1
    s.disk.cap = s.f.size                  # the commit fails after its twin
    s.commit({k: (3, 7) for k in range(4)})
    s.disk.cap = 10**9
    if not s.twins:
        raise Violation('the scenario makes no space twin')
    s.close()
    store(d, w, geo).commit({0: (1, 7)})


def twin_then_previous(d, w, s, geo):
    """Of two slots with the same txn there is no previous one."""
    d.split = True
    s.p_twin = 1
    s.disk.cap = s.f.size
    s.commit({k: (3, 7) for k in range(4)})
    s.disk.cap = 10**9
    want = s.cur.state()
    if s.D.txn != s.P.txn:
        raise Violation('the scenario makes no space twin')
    again = store(d, w, geo, previous=True)
    if again.cur.state() != want:
        raise Violation('the previous commit of two equal slots is another state')
    again.commit({0: (1, 7)})


ONE = ('commit', {0: (1, 7)}, FULL)
SCENARIOS = {
    'creation': (WIDE, fresh, ops(('commit', {0: (1, 0)}, FULL))),
    'lazy creation': (WIDE, fresh,
                      ops(('commit', {0: (1, 0)}, LAZY), ('commit', {0: (1, 1)}, LAZY))),
    'small commit': (WIDE, base(WIDE), ops(ONE)),
    'extent commit': (WIDE, base(WIDE), ops(('commit', {1: (2, 7)}, FULL))),
    'lazy, lazy': (WIDE, base(WIDE, 1),
                   ops(('commit', {0: (1, 5)}, LAZY), ('commit', {0: (1, 6)}, LAZY))),
    'lazy, full': (WIDE, base(WIDE, 1), ops(('commit', {0: (1, 5)}, LAZY), ONE)),
    'extent told anew': (WIDE, half_told(WIDE), ops(('commit', {0: (2, 1)}, FULL))),
    'large commit': (SMALL_MANIFEST, base(SMALL_MANIFEST), ops(('commit', {0: (2, 7)}, FULL))),
    'large lazy': (SMALL_MANIFEST, base(SMALL_MANIFEST),
                   ops(('commit', {0: (1, 5)}, LAZY), ('commit', {1: (1, 5)}, LAZY))),
    'close, open, commit': (WIDE, base(WIDE, 1), reopened),
    'trim, regrow': (WIDE, base(WIDE, 4),
                     ops(('commit', {1: None, 2: None, 3: None}, FULL),
                         ('commit', {0: (1, 3)}, FULL), ('trim',), ('commit', {1: (1, 4)}, FULL))),
    'fence after a process crash': (WIDE, crashed_commit(WIDE, False), ops(ONE)),
    'twin after a rejected slot': (WIDE, crashed_commit(WIDE, True),
                                   ops(('commit', {0: (2, 1)}, FULL))),
    'use previous commit': (WIDE, base(WIDE), previous),
    'inline to regions': (TINY, base(TINY, 1), ops(('commit', {4: (1, 1)}, FULL))),
    'region commit': (TINY, base(TINY, 3), ops(('commit', {0: (1, 7)}, FULL))),
    'two at once': (WIDE, base(WIDE), side_by_side(FULL)),
    'two lazy at once': (WIDE, base(WIDE), side_by_side(LAZY)),
    'staged during a flush': (WIDE, base(WIDE, 1), during_the_flush(0)),
    'two staged during a flush': (WIDE, base(WIDE), during_the_flush(1)),
    'large, staged during a flush': (SMALL_MANIFEST, base(SMALL_MANIFEST), during_the_flush(0)),
    'regions, staged during a flush': (TINY, base(TINY, 3), during_the_flush(0)),
    'space twin': (WIDE, base(WIDE), space_twin(FULL)),
    'space twin after a lazy commit': (WIDE, base(WIDE), space_twin(LAZY)),
    'space twin, close, open': (WIDE, base(WIDE), twin_then_close),
    'space twin, use previous commit': (WIDE, base(WIDE), twin_then_previous),
}


def choices(pg, versions):
    old, new = versions[0], versions[-1]
    out = list(versions)
    h = NSEC // 2
    out += [old[:h] + new[h:], new[:h] + old[h:]]
    if pg < 2:
        for i in range(NSEC):
            out += [old[:i] + new[i:i + 1] + old[i + 1:], new[:i] + old[i:i + 1] + new[i + 1:]]
    return list(dict.fromkeys(out))


def judge(d, w, geo, floor, follow):
    got = inspect(d, w, geo, BUGS)
    if got < floor:
        raise Violation(f'lost: recovered {got}, promised {floor}')
    w.settle(got)
    if follow:
        s = store(d, w, geo)
        s.commit({0: (1, 9)})
        want = s.cur.serial
        d.power_cut(lambda pg, v: v[-1])
        if inspect(d, w, geo, BUGS) != want:
            raise Violation('the commit after recovery is not there')


def outcomes(f, rng, limit):
    """What the un-flushed pages may turn into: all of it, or a sample of so many."""
    pend = sorted(f.pend) if f else []
    sets = [choices(p, [f.dur.get(p, (None,) * NSEC)] + f.pend[p]) for p in pend]
    count = 1
    for x in sets:
        count *= len(x)
    combos = product(*sets)
    if count > limit:
        combos = ([rng.choice(x) for x in sets] for _ in range(limit))
    for combo in combos:
        yield dict(zip(pend, combo))


def crash_at(point, scenario, rng, limit, cases):
    """-> (outcomes judged, did the scenario end before the crash point)"""
    geo, setup, run = scenario
    d, w = Disk(random.Random(2)), World()
    s = setup(d, w)
    d.fuse, done = point, False
    try:
        run(d, w, s, geo)
        done = True
    except Crash:
        pass
    d.fuse = None
    floor = w.acked if run is previous else max(w.acked, w.shown)
    judge(d.copy(), clone(w), geo, floor, True)                 # process crash
    f = d.lookup(NAME)
    sizes = [f.dsize] + f.sizes if f else [0]
    for pick in outcomes(f, rng, limit):
        for size in {sizes[0], sizes[-1]}:
            c, cw = d.copy(), clone(w)
            cf = c.lookup(NAME)
            if cf:
                cf.sizes = [size]
                c.power_cut(lambda pg, v: pick[pg])
            cases += 1
            judge(c, cw, geo, w.acked, cases % 7 == 0)
    return cases, done


def main(bugs=(), limit=40000):
    BUGS.clear()
    BUGS.update(bugs)
    total, t0 = 0, time.time()
    rng = random.Random(5)
    for name, scenario in SCENARIOS.items():
        point, cases, done = 0, 0, False
        while not done:
            try:
                cases, done = crash_at(point, scenario, rng, limit, cases)
            except Violation as e:
                print(f'exhaustive: {name}, crash point {point}: {e}')
                return 1
            point += 1
        total += cases
        if limit > 1000:
            print(f'{name:31s} {point:3d} crash points, {cases:7d} outcomes', flush=True)
    print(f'exhaustive: {len(SCENARIOS)} scenarios, {total} outcomes, no violation, '
          f'{time.time() - t0:.0f} s', flush=True)
    return 0
