# SPDX-License-Identifier: Apache-2.0
"""Simulated disk: page cache over durable sectors, plus directory entries.

A page is a tuple of 8 sector values (None = zeros). Rules of the simulation:
- a write goes to the cache; until a flush every sector of it may persist, vanish, or persist in
  any older cached version;
- the file size is separate: un-flushed size changes persist or not, independently of the data;
- a process crash keeps the cache, a power cut drops it;
- a flush has a start and an end: what was written before its start is durable at its end. A page
  that is written again in between reaches the disk in either version, and stays dirty;
- a failed flush may persist a page, leave it dirty, or mark it CLEAN WITHOUT WRITING IT (visible
  until evicted);
- a lying flush returns success and does nothing;
- a directory entry (new file, rename, new directory) is durable only after its directory is
  flushed;
- a page write is atomic against a process crash (one copy under the inode lock), never against a
  power cut.
"""
NSEC = 8
ZERO = (None,) * NSEC


class Crash(Exception):
    """The process or the machine stops here."""


class IOFail(Exception):
    """A system call returned an error (EIO, ENOSPC)."""


class File:
    def __init__(self):
        # page -> content; page -> [versions]; page -> content
        self.dur, self.pend, self.ghost = {}, {}, {}
        self.dsize, self.sizes = 0, []                 # durable size in pages; un-flushed sizes
        self.partial = set()                  # pages with an un-flushed write of one sector

    def copy(self):
        f = File()
        f.dur, f.ghost, f.dsize = dict(self.dur), dict(self.ghost), self.dsize
        f.sizes, f.partial = list(self.sizes), set(self.partial)
        f.pend = {k: list(v) for k, v in self.pend.items()}
        return f

    @property
    def size(self):
        return self.sizes[-1] if self.sizes else self.dsize

    def read(self, pg):
        if pg >= self.size:
            return None
        v = self.pend.get(pg)
        if v:
            return v[-1]
        g = self.ghost.get(pg)
        return g if g is not None else self.dur.get(pg, ZERO)

    def put(self, pg, content):
        self.pend.setdefault(pg, []).append(content)
        self.ghost.pop(pg, None)
        if pg >= self.size:
            self.sizes.append(pg + 1)

    def dirty(self):
        """What a flush that starts here has to write: versions of each page, and sizes."""
        return {pg: len(v) for pg, v in self.pend.items()}, len(self.sizes)

    def settle(self, dirty=None, choice=lambda v: v[-1]):
        """What was dirty (everything, if not given) reaches the platter."""
        pages, sizes = dirty or self.dirty()
        for pg, count in pages.items():
            versions = self.pend.pop(pg, None)
            if not versions:
                continue
            if len(versions) <= count:
                self.dur[pg] = versions[-1]
                self.partial.discard(pg)
            else:
                self.dur[pg] = choice(versions[max(count, 1) - 1:])
                self.pend[pg] = versions[count:]
        self.settle_size(sizes)

    def settle_size(self, count):
        if self.sizes[:count]:
            self.dsize, self.sizes = self.sizes[:count][-1], self.sizes[count:]
        self.drop_tail()

    def drop_tail(self):
        for pg in [p for p in self.dur if p >= self.dsize]:
            del self.dur[pg]


class Disk:
    def __init__(self, rng, cap=10**9):
        self.rng, self.cap = rng, cap
        self.names, self.dpend = {}, []       # durable {name: File}; pending directory operations
        self.dir_dur, self.dir_pend = False, False   # the store directory inside its parent
        self.fuse = None                      # crash when it runs out
        self.hook = None                      # a second process runs between two steps
        self.p_fail = self.p_eio = 0.0        # failing flush, failing write
        self.arm = False                      # one flush may lie
        self.split = False                    # the end of a flush is a crash point of its own
        self.atomic_slots = False             # pages 0 and 1 are never torn (4 KB sectors)
        self.torn_slots = False               # pages 0 and 1 often lose one sector
        self.lies = self.fails = 0
        self.trace = None

    # -- crash points --------------------------------------------------------------------------
    def step(self, what):
        if self.trace is not None:
            self.trace.append(what)
        if self.hook:
            self.hook()
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                raise Crash(what)

    # -- system calls --------------------------------------------------------------------------
    def lookup(self, name):
        n = dict(self.names)
        for op in self.dpend:
            self.apply(n, op)
        return n.get(name)

    @staticmethod
    def apply(n, op):
        if op[0] == 'create':
            n[op[1]] = op[2]
        else:
            n[op[2]] = n.pop(op[1])

    def mkdir(self):
        self.step('mkdir')
        if not self.dir_dur:
            self.dir_pend = True

    def has_dir(self):
        return self.dir_dur or self.dir_pend

    def create(self, name):
        self.step('create')
        f = File()
        self.dpend.append(('create', name, f))
        return f

    def rename(self, a, b):
        self.step('rename')
        self.dpend.append(('rename', a, b))

    def flush_dir(self):
        self.step('fsync dir')
        for op in self.dpend:
            self.apply(self.names, op)
        self.dpend = []

    def flush_parent(self):
        self.step('fsync parent')
        if self.dir_pend:
            self.dir_dur, self.dir_pend = True, False

    def write(self, f, pg, content):
        self.step(('write', pg))
        if pg >= self.cap and pg >= f.size:
            raise IOFail('ENOSPC')
        if self.p_eio and self.rng.random() < self.p_eio:
            if self.rng.random() < .5:       # an error does not mean that nothing was written
                f.put(pg, content)
            raise IOFail('EIO')
        f.put(pg, content)

    def write_sector(self, f, pg, i, value):
        """Write one sector. Not assumed "powersafe": a cut may destroy the 4 KB block around it."""
        c = list(f.read(pg) or ZERO)
        c[i] = value
        self.write(f, pg, tuple(c))
        f.partial.add(pg)

    def truncate(self, f, pages):
        self.step(('truncate', pages))
        for pg in range(pages, f.size):
            f.pend.setdefault(pg, []).append(ZERO)
            f.ghost.pop(pg, None)
        f.sizes.append(pages)

    def flush_start(self, f):
        self.step('flush')
        return f.dirty()

    def flush_end(self, f, dirty):
        if self.split:
            self.step('flush end')
        if self.lies:
            raise Crash('the flush after the lie')
        if self.arm and self.rng.random() < .3:
            self.lies = 1             # one flush is dropped; the power goes before the next returns
            return
        if self.p_fail and self.rng.random() < self.p_fail:
            self.fails += 1
            for pg, count in dirty[0].items():
                k = self.rng.randrange(3)
                if k == 2 or len(f.pend.get(pg, ())) != count:
                    continue                  # still dirty
                (f.dur if k == 0 else f.ghost)[pg] = f.pend.pop(pg)[-1]
            f.settle_size(dirty[1])           # sizes are journalled: not lost without a trace
            raise IOFail('flush')
        f.settle(dirty, self.rng.choice)

    def flush(self, f):
        self.flush_end(f, self.flush_start(f))

    # -- what survives -------------------------------------------------------------------------
    def evict(self):
        """Memory pressure drops clean pages: what never reached the disk disappears."""
        for f in self.files():
            f.ghost = {}

    def files(self):
        n = dict(self.names)
        for op in self.dpend:
            self.apply(n, op)
        return list(n.values())

    def power_cut(self, choose=None):
        """choose(page, versions) -> content, or None for the random mixture."""
        rng = self.rng
        k = len(self.dpend)
        if choose is None:
            k = rng.choice((0, len(self.dpend), rng.randint(0, len(self.dpend))))
        for op in self.dpend[:k]:            # journalled metadata: a prefix survives
            self.apply(self.names, op)
        self.dpend = []
        if self.dir_pend:
            self.dir_dur, self.dir_pend = (rng.random() < .5), False
        if not self.dir_dur:
            self.names = {}
        for f in self.names.values():
            mode = rng.random()
            for pg, vers in f.pend.items():
                old = f.dur.get(pg, ZERO)
                new = choose(pg, [old] + vers) if choose else self.outcome(mode, old, vers, pg)
                f.dur[pg] = new
            for pg in sorted(f.partial & set(f.pend)):
                if rng.random() < .1:
                    f.dur[pg] = ('garbage',) * NSEC
            f.pend, f.ghost, f.partial = {}, {}, set()
            if f.sizes:
                if choose is None and rng.random() < .4:
                    f.dsize = rng.choice([f.dsize] + f.sizes)
                else:
                    f.dsize = f.sizes[-1]
                f.sizes = []
            f.drop_tail()

    def outcome(self, mode, old, vers, pg):
        rng = self.rng
        r = rng.random()
        if self.torn_slots and pg < 2 and rng.random() < .5:
            a, b = vers[-1], rng.choice([old] + vers)
            k = rng.choice((rng.randrange(NSEC), NSEC - 1))
            return a[:k] + b[k:k + 1] + a[k + 1:]
        if mode < .1 or (mode >= .3 and .45 <= r < .7):
            return old
        if mode < .3 or r < .45:
            return vers[-1]
        if r < .85 or (pg < 2 and self.atomic_slots):
            return rng.choice(vers)
        every = [old] + vers
        if rng.random() < .3:                # all sectors of one version but one
            a, b, k = rng.choice(every), rng.choice(every), rng.randrange(NSEC)
            return a[:k] + b[k:k + 1] + a[k + 1:]
        return tuple(rng.choice(every)[i] for i in range(NSEC))

    def copy(self):
        d = Disk(self.rng, self.cap)
        files = set(self.names.values()) | {op[2] for op in self.dpend if op[0] == 'create'}
        m = {id(f): f.copy() for f in files}
        d.names = {n: m[id(f)] for n, f in self.names.items()}
        d.dpend = [(o[0], o[1], m[id(o[2])]) if o[0] == 'create' else o for o in self.dpend]
        d.dir_dur, d.dir_pend = self.dir_dur, self.dir_pend
        return d
