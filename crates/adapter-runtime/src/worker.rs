//! The worker process: one thread, one invocation at a time, each in a JavaScript runtime that is as new. It begins as
//! a copy of a process that has built such a runtime and runs no app code itself.

mod arena;
mod budget;
mod bundle;
mod confine;
mod fork_server;
mod give_way;
mod natives;
mod pipe;
mod raw;
mod realm;
mod run;
mod session;

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    process::ExitCode,
    rc::Rc,
    time::Duration,
};

use runs::engine::{Bindings, FailureCode};

use crate::protocol::{Done, Fault, FromWorker, Job, JobLimits, Outcome, Task, ToWorker, Version};
use bundle::Compiled;
use pipe::Pipe;
use realm::AppRealm;

/// The whole life of a fork server, and of the workers that it makes. The binary calls this, and nothing else, for its
/// hidden worker command, before it starts threads, opens files or reads configuration.
#[must_use]
pub fn worker_main() -> ExitCode {
    let entered = confine::enter();
    let pipe = Rc::<RefCell<Pipe>>::default();
    let Ok(realm) = AppRealm::build(Rc::clone(&pipe)) else { return ExitCode::FAILURE };
    let mut worker = Worker { pipe, realm, bundles: HashMap::new() };
    if worker.warm_up().is_err() {
        return ExitCode::FAILURE;
    }
    give_way::install();
    if fork_server::serve().is_err() {
        // The parent is gone.
        return ExitCode::SUCCESS;
    }
    let confinement = confine::seal(entered);
    if worker.pipe.borrow_mut().send(&FromWorker::Ready(confinement)).is_err() {
        return ExitCode::FAILURE;
    }
    worker.serve();
    ExitCode::SUCCESS
}

struct Worker {
    pipe: Rc<RefCell<Pipe>>,
    realm: AppRealm,
    bundles: HashMap<Version, Rc<Compiled>>,
}

impl Worker {
    /// Runs code once, so that what libraries do on first use (such as reading the time zone) happens before the
    /// process is sealed.
    fn warm_up(&mut self) -> Result<Outcome, Fault> {
        let source = "export default { scheduled() { return [new Date(0).getHours(), Math.random()]; } }";
        let limits = JobLimits {
            wall_micros: 60_000_000,
            cpu_micros: 60_000_000,
            memory: 64 << 20,
            log_lines: 0,
            host_calls: 0,
            output: 1000,
            streamed: 0,
        };
        let files = BTreeMap::from([(bundle::ENTRY.to_owned(), source.to_owned())]);
        let compiled = Rc::new(Compiled::compile(&files, limits)?);
        let task = Task::Scheduled("{}".to_owned());
        let outcome = run::run(task, &Bindings::default(), limits, &compiled, &self.realm, &self.pipe);
        self.realm.restore();
        outcome
    }

    /// Serves until the parent hangs up.
    fn serve(&mut self) {
        loop {
            let message = self.pipe.borrow_mut().receive(None);
            match message {
                Ok(Some(ToWorker::Invoke(job))) => {
                    let done = self.invoke(*job);
                    if !self.answer(done) {
                        return;
                    }
                    self.realm.restore();
                }
                // What came too late for its invocation.
                Ok(Some(ToWorker::Settle { .. } | ToWorker::Taken(_) | ToWorker::HangUp) | None) => {}
                Err(_) => return,
            }
        }
    }

    fn invoke(&mut self, job: Job) -> Done {
        let Job { version, files, forget, bindings, task, limits, gives_way } = job;
        if let Some(forget) = forget {
            self.bundles.remove(&forget);
        }
        let verdict = give_way::during(gives_way, || {
            let compiled = self.compiled(version, files, limits)?;
            run::run(task, &bindings, limits, &compiled, &self.realm, &self.pipe)
        });
        let worn = Duration::from_secs(confine::PROCESS_CPU / 2);
        Done { verdict, kept: self.bundles.contains_key(&version), retire: budget::cpu_time() > worn }
    }

    fn compiled(
        &mut self,
        version: Version,
        files: Option<BTreeMap<String, String>>,
        limits: JobLimits,
    ) -> Result<Rc<Compiled>, Fault> {
        if let Some(files) = files {
            let compiled = Rc::new(Compiled::compile(&files, limits)?);
            self.bundles.insert(version, compiled);
        }
        let missing = || Fault::new(FailureCode::WorkerLost, "the worker does not have this version");
        self.bundles.get(&version).cloned().ok_or_else(missing)
    }

    /// Sends the last message of a job; an answer too long for a frame becomes a fault.
    fn answer(&self, done: Done) -> bool {
        let (kept, retire) = (done.kept, done.retire);
        let mut pipe = self.pipe.borrow_mut();
        let sent = match pipe.send(&FromWorker::Done(done)) {
            Ok(false) => {
                let fault = Fault::new(FailureCode::OutputTooLarge, "the answer is too large");
                pipe.send(&FromWorker::Done(Done { verdict: Err(fault), kept, retire }))
            }
            other => other,
        };
        sent.is_ok() && pipe.flush().is_ok()
    }
}
