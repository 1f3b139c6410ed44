#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crash the protocol, damage its files, break it on purpose.

  run.py quick                                         what a test run takes: all of it, bounded
  run.py all                                           all of it, for half an hour
  run.py random FLAVOUR TRIALS [--seed N] [--bug NAME] flavours: see trial.py; 'all': in turn
  run.py exhaustive [BUG]                              every crash point x every outcome
  run.py damage                                        every damage, alone and in pairs
  run.py bugs [TRIALS] [NAME...]                       every injected bug must be found
  run.py calls                                         writes and flushes of each kind of commit
  run.py shrink                                        compaction gives the space back
"""
import random
import sys
import time
from bugs import BUGS
from disk import Disk
from engine import Store, drain
from pages import FULL, LAZY, Corrupt, Geometry, Torn
from trial import FLAVOURS, Violation, World, damage, one, settled

QUICK_SEED = 20_000_000                 # of the random runs in quick


def random_runs(flavour, n, first=0, bugs=(), stop=False):
    """-> (runs, sums of what happened, violations, first example)"""
    sums = dict(crashes=0, commits=0, twins=0, damaged={})
    bad, example = 0, None
    names = list(FLAVOURS) if flavour == 'all' else [flavour]
    for s in range(first, first + n):
        name = names[s % len(names)]
        t, err = one(s, name, bugs)
        for key in ('crashes', 'commits', 'twins'):
            sums[key] += getattr(t, key)
        for k, v in t.damaged.items():
            sums['damaged'][k] = sums['damaged'].get(k, 0) + v
        if err:
            bad += 1
            example = example or (name, s, err)
            if stop:
                return s - first + 1, sums, bad, example
    return n, sums, bad, example


def say_random(flavour, n, seed=0, bugs=()):
    t0 = time.time()
    n, sums, bad, example = random_runs(flavour, n, seed, bugs)
    damaged = sums.pop('damaged')
    text = ', '.join(f'{k} {v}' for k, v in sums.items())
    print(f'{flavour}: seed {seed}, runs {n}, {text}, violations {bad}, first {example}, '
          f'{time.time() - t0:.0f} s', flush=True)
    if damaged:
        print(f'damaged copies {sum(damaged.values())}: '
              + ', '.join(f'{k} {v}' for k, v in sorted(damaged.items())), flush=True)
    return bad


def find_bugs(limit=30000, names=(), brief=False):
    """-> how many bugs were not found. brief: those that need many runs start shortly before."""
    t0, missed, total = time.time(), 0, 0
    for name, (_, flavour, known) in BUGS.items():
        if names and name not in names:
            continue
        total += 1
        first = max(0, known - 20) if brief else 0
        n, _, bad, example = random_runs(flavour, limit, first, [name], stop=True)
        missed += not bad
        how = f'found in run {first + n - 1}' if bad else f'NOT FOUND in {n} runs'
        if not brief or not bad:
            print(f'{name:24s} {flavour:9s} {how}: {example[2] if example else ""}', flush=True)
    print(f'{total} bugs, missed {missed}, {time.time() - t0:.0f} s', flush=True)
    return missed


def damage_all(most=6):
    """Every single damage and every pair, on stores of 0 to 6 commits, closed, stopped, or cut off
    in the middle of a commit."""
    counts, stores = {}, 0
    for commits in range(most + 1):
        for mode in (FULL, LAZY):
            for end in ('closed', 'stopped', 'power', 'torn 0', 'torn 1'):
                d, w, geo = Disk(random.Random(1)), World(), Geometry()
                st = Store(d, w, random.Random(2), geo, tidy=True)
                for i in range(commits):
                    st.commit({i % 3: (1, i)}, FULL if i % 3 == 2 else mode)
                if end == 'closed':
                    st.close()
                elif end == 'power':
                    d.power_cut(lambda pg, v: v[0])
                elif end[:4] == 'torn':
                    d = torn(d, w, st, LAZY if commits else FULL, 4 if end[-1] == '0' else 1)
                damage(d, w, random.Random(3), geo, (), None, counts)
                stores += 1
    print(f'damage: {stores} stores, {sum(counts.values())} damaged copies, no violation: '
          + ', '.join(f'{k} {v}' for k, v in sorted(counts.items())), flush=True)
    return 0


def torn(d, w, st, mode, keep):
    """One more commit; of its slot so many sectors arrive."""
    slot = st.target()
    d.fuse = 50
    st.world = World()
    st.world.n = w.n
    old = st.f.read(slot) or (None,) * 8
    st.commit({0: (1, 9), 1: (2, 9)}, mode)
    d = settled(d)
    f = d.lookup('data.mdb')
    f.dur[slot] = f.dur[slot][:keep] + old[keep:]
    return d


def shrink():
    """Fill, remove most, let later small commits relocate: the file comes down to the need."""
    for move in (0, 1, 2):
        d, w = Disk(random.Random(3)), World()
        st = Store(d, w, random.Random(4), Geometry(), tidy=True)
        st.commit({k: (2, 1) for k in range(40)})
        full = st.f.size
        st.commit({k: None for k in range(40) if k % 8 != 7})
        for i in range(30):
            st.commit({39: (2, i)}, FULL, move)
            st.trim()
        print(f'shrink: {full} pages full, {st.f.size} after 30 small commits moving {move} tail '
              f'extents each, {len(st.cur.content)} reachable')
    for p_twin in (0, 1):
        d, w = Disk(random.Random(3)), World()
        st = Store(d, w, random.Random(4), Geometry(400, 500), tidy=True, p_twin=p_twin)
        for i in range(4):
            st.commit({k: (2, i) for k in range(40)})
        print(f'space: everything rewritten four times, {st.f.size} pages with '
              f'{st.twins} space twins, {len(st.cur.content)} reachable')
    return 0


def count_calls(d, name, fn):
    d.trace = []
    fn()
    t = [x if isinstance(x, str) else x[0] for x in d.trace]
    d.trace = None
    dirs = t.count('fsync dir') + t.count('fsync parent')
    print(f'{name:34s} page writes {t.count("write"):2d}, flushes {t.count("flush")}, '
          f'directory flushes {dirs}')


def together(st, count):
    """So many commits by as many threads. A flush takes as long as forty of their steps."""
    tasks, flusher, left = [st.commit_steps({i: (1, 8)}) for i in range(count)], None, 0
    while tasks:
        for t in list(tasks):
            if t is flusher and left:
                left -= 1
                continue
            if next(t, 'end') == 'end':
                tasks.remove(t)
            flusher = flusher if st.flush_runs else None
            if st.flush_runs and not flusher:
                flusher, left = t, 40


def calls():
    d, w = Disk(random.Random(3)), World()
    geo = Geometry(inline=200, region=300, manifest=12)
    make = lambda: Store(d, w, random.Random(4), geo, tidy=True)
    st = make()
    count = lambda name, fn: count_calls(d, name, fn)
    count('first commit', lambda: st.commit({0: (1, 1)}))
    count('small FULL commit', lambda: st.commit({0: (1, 2)}))
    count('LAZY commit', lambda: st.commit({0: (1, 3)}, LAZY))
    count('FULL after LAZY', lambda: st.commit({0: (1, 4)}))
    count('large FULL commit', lambda: st.commit({k: (1, 4) for k in range(12)}))
    count('large LAZY commit', lambda: st.commit({k: (1, 5) for k in range(12)}, LAZY))
    st.commit({0: (1, 2)})
    count('three FULL commits at once', lambda: together(st, 3))
    count('ten FULL commits at once', lambda: together(st, 10))
    st.commit({0: (1, 2)})
    count('close', st.close)
    st = make()
    count('first commit after a sealed open', lambda: st.commit({0: (1, 6)}))
    st = make()
    count('first commit after a process crash', lambda: st.commit({0: (1, 7)}))
    return 0


def quick():
    import exhaustive
    bad = say_random('all', 2400, QUICK_SEED)
    bad += find_bugs(60, brief=True)
    bad += exhaustive.main(limit=60)
    return bad or damage_all(1)


def long(seed=0):
    import exhaustive
    bad = say_random('all', 32000, seed)
    for flavour in ('group', 'broad', 'crowd', 'broken', 'liars', 'space'):
        bad += say_random(flavour, 6000, seed + 1_000_000)
    bad += find_bugs()
    bad += exhaustive.main()
    return bad or damage_all() or calls() or shrink()


def main(a):
    seed = int(a[a.index('--seed') + 1]) if '--seed' in a else 0
    bugs = [a[a.index('--bug') + 1]] if '--bug' in a else []
    try:
        if a[:1] == ['random']:
            return say_random(a[1], int(a[2]), seed, bugs) > 0 and not bugs
        if a[:1] == ['bugs']:
            return find_bugs(int(a[1]) if len(a) > 1 else 30000, a[2:]) > 0
        if a[:1] == ['exhaustive']:
            import exhaustive
            return exhaustive.main(a[1:]) > 0
        modes = dict(quick=quick, all=lambda: long(seed), damage=damage_all, calls=calls,
                     shrink=shrink)
        if a[:1] and a[0] in modes:
            return modes[a[0]]() > 0
    except (Violation, Corrupt, Torn) as e:
        print(f'violation: {type(e).__name__} {e}')
        return 1
    print(__doc__)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
