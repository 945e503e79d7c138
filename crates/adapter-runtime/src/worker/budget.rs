//! The limits of one invocation. QuickJS's interrupt handler checks them every few thousand steps.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use process_snapshot::MemoryMeter;
use runs::engine::FailureCode;
use rustix::time::{ClockId, clock_gettime};

use crate::protocol::{Fault, JobLimits};

/// Deadlines and the memory meter of one invocation.
pub(super) struct Budget {
    wall_deadline: Cell<Instant>,
    cpu_deadline: Cell<Duration>,
    /// The time before which the processor time cannot be used up, since a thread uses at most the time that passes.
    earliest_cpu_check: Cell<Instant>,
    limits: Cell<JobLimits>,
    meter: Rc<MemoryMeter>,
    exceeded_limit: Cell<Option<FailureCode>>,
}

impl Budget {
    pub(super) fn new(limits: JobLimits, meter: Rc<MemoryMeter>) -> Rc<Self> {
        let budget = Rc::new(Self {
            wall_deadline: Cell::new(Instant::now()),
            cpu_deadline: Cell::default(),
            earliest_cpu_check: Cell::new(Instant::now()),
            limits: Cell::new(limits),
            meter,
            exceeded_limit: Cell::new(None),
        });
        budget.restart(limits);
        budget
    }

    /// Starts over with these limits. Returns false if more memory than that is in use already.
    pub(super) fn restart(&self, limits: JobLimits) -> bool {
        let (now, cpu) = (Instant::now(), Duration::from_micros(limits.cpu_micros));
        self.wall_deadline.set(now + Duration::from_micros(limits.wall_micros));
        self.cpu_deadline.set(cpu_time() + cpu);
        self.earliest_cpu_check.set(now + cpu);
        self.limits.set(limits);
        self.exceeded_limit.set(None);
        self.meter.set_limit(usize::try_from(limits.memory).unwrap_or(usize::MAX))
    }

    /// Brings the wall-clock deadline forward to at most `time` from now.
    pub(super) fn shorten_deadline(&self, time: Duration) {
        self.wall_deadline.set(self.wall_deadline.get().min(Instant::now() + time));
    }

    /// Returns the wall-clock deadline.
    pub(super) fn wall_deadline(&self) -> Instant {
        self.wall_deadline.get()
    }

    /// Checks every limit and returns the first that is exceeded. It stays exceeded, whatever the code catches.
    pub(super) fn exceeded_limit(&self) -> Option<FailureCode> {
        if self.exceeded_limit.get().is_none() {
            let now = Instant::now();
            let code = if self.meter.was_refused() {
                Some(FailureCode::MemoryExceeded)
            } else if now >= self.earliest_cpu_check.get() && cpu_time() >= self.cpu_deadline.get() {
                Some(FailureCode::CpuExceeded)
            } else if now >= self.wall_deadline.get() {
                Some(FailureCode::Timeout)
            } else {
                None
            };
            self.exceeded_limit.set(code);
        }
        self.exceeded_limit.get()
    }

    /// Returns the fault of the limit that is exceeded.
    pub(super) fn fault(&self) -> Option<Fault> {
        let limits = self.limits.get();
        self.exceeded_limit().map(|code| {
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

/// Returns the processor time of this thread, which is the only one of the process.
pub(super) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
