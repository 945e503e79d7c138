//! What one invocation may use up, asked by QuickJS every few thousand steps.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use runs::engine::FailureCode;
use rustix::time::{ClockId, clock_gettime};

use super::raw::Meter;
use crate::protocol::{Fault, JobLimits};

/// Deadlines and the memory meter of one invocation.
pub(super) struct Budget {
    wall: Cell<Instant>,
    cpu: Cell<Duration>,
    /// Before this moment no processor time can be used up: a thread uses at most the time that passes.
    cpu_at_soonest: Cell<Instant>,
    limits: Cell<JobLimits>,
    meter: Rc<Meter>,
    exceeded: Cell<Option<FailureCode>>,
}

impl Budget {
    pub(super) fn new(limits: JobLimits, meter: Rc<Meter>) -> Rc<Self> {
        let budget = Rc::new(Self {
            wall: Cell::new(Instant::now()),
            cpu: Cell::default(),
            cpu_at_soonest: Cell::new(Instant::now()),
            limits: Cell::new(limits),
            meter,
            exceeded: Cell::new(None),
        });
        budget.start(limits);
        budget
    }

    /// Starts over with these limits; whether the memory in use fits them.
    pub(super) fn start(&self, limits: JobLimits) -> bool {
        let (now, cpu) = (Instant::now(), Duration::from_micros(limits.cpu_micros));
        self.wall.set(now + Duration::from_micros(limits.wall_micros));
        self.cpu.set(cpu_time() + cpu);
        self.cpu_at_soonest.set(now + cpu);
        self.limits.set(limits);
        self.exceeded.set(None);
        self.meter.set_limit(usize::try_from(limits.memory).unwrap_or(usize::MAX))
    }

    /// Leaves at most this much time from now on.
    pub(super) fn leave(&self, time: Duration) {
        self.wall.set(self.wall.get().min(Instant::now() + time));
    }

    /// When the invocation must be over.
    pub(super) fn wall(&self) -> Instant {
        self.wall.get()
    }

    /// Looks at every limit; once one is exceeded it stays so, whatever the code catches.
    pub(super) fn exceeded(&self) -> Option<FailureCode> {
        if self.exceeded.get().is_none() {
            let now = Instant::now();
            let code = if self.meter.refused() {
                Some(FailureCode::MemoryExceeded)
            } else if now >= self.cpu_at_soonest.get() && cpu_time() >= self.cpu.get() {
                Some(FailureCode::CpuExceeded)
            } else if now >= self.wall.get() {
                Some(FailureCode::Timeout)
            } else {
                None
            };
            self.exceeded.set(code);
        }
        self.exceeded.get()
    }

    /// The fault of the limit that was exceeded.
    pub(super) fn fault(&self) -> Option<Fault> {
        let limits = self.limits.get();
        self.exceeded().map(|code| {
            Fault::new(
                code,
                match code {
                    FailureCode::MemoryExceeded => {
                        format!("the code used more than {} MiB of memory", limits.memory >> 20)
                    }
                    FailureCode::CpuExceeded => {
                        format!("the code used more than {} ms of processor time", limits.cpu_micros / 1000)
                    }
                    _ => format!("the code took longer than {} ms", limits.wall_micros / 1000),
                },
            )
        })
    }
}

/// Processor time of this thread, which is the only one.
pub(super) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
