//! The worker process: one thread that runs one invocation at a time, each in a JavaScript runtime that was just reset. It
//! begins as a copy of the fork server, which has built the runtime and runs no app code itself.

mod budget;
mod bundle;
mod confine;
mod held_values;
mod invocation_state;
mod natives;
mod parent_pipe;
mod realm;
mod task_runner;

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    process::ExitCode,
    rc::Rc,
    time::Duration,
};

use bytes::Bytes;
use process_snapshot::{ServeError, install_alarm_handler, run_yielding, serve};
use runs::engine::{Bindings, BundleDigest, FailureCode};
use rustix::thread::set_name;

use crate::program_build::ProgramBuild;
use crate::protocol::{
    Fault, FromWorker, Job, JobLimits, JobResult, LONG_COMPUTATION, Outcome, Task, ToWorker, has_typescript,
};
use bundle::CompiledBundle;
use parent_pipe::ParentPipe;
use realm::AppRealm;

/// Runs a fork server, and each of its workers. The binary calls this, and nothing else, for its hidden worker command, before
/// it starts threads, opens files or reads configuration.
#[must_use]
pub fn worker_main() -> ExitCode {
    let confinement = confine::confine_fork_server();
    let build = ProgramBuild::current();
    let pipe = Rc::<RefCell<ParentPipe>>::default();
    let Ok(realm) = AppRealm::build(Rc::clone(&pipe)) else { return ExitCode::FAILURE };
    let mut worker = Worker { pipe, realm, bundles: HashMap::new(), latest: None };
    if worker.warm_up().is_err() {
        return ExitCode::FAILURE;
    }
    install_alarm_handler();
    // Names for lists of processes; without them nothing else changes.
    let _ = set_name(c"app-forkserver");
    match serve() {
        Ok(()) => {}
        Err(ServeError::Disconnected) => return ExitCode::SUCCESS,
        Err(ServeError::MultiThreaded) => return ExitCode::FAILURE,
    }
    let _ = set_name(c"app-worker");
    let confinement = confine::confine_worker(confinement);
    if worker.pipe.borrow_mut().send(&FromWorker::Ready { confinement, build }).is_err() {
        return ExitCode::FAILURE;
    }
    worker.serve();
    ExitCode::SUCCESS
}

/// Bytes of bytecode that jobs of one bundle read in a row, at least two of them, before the bundle is preloaded.
const PRELOAD_THRESHOLD: usize = 64 << 10;

struct Worker {
    pipe: Rc<RefCell<ParentPipe>>,
    realm: AppRealm,
    bundles: HashMap<BundleDigest, Rc<CompiledBundle>>,
    latest: Option<RepeatedBundle>,
}

/// The bundle of the latest job.
#[derive(Clone, Copy)]
struct RepeatedBundle {
    bundle: BundleDigest,
    /// Bytes of it that jobs in a row have read.
    bytes_read: usize,
}

impl Worker {
    /// Runs code once, so that what libraries do on first use (such as reading the time zone) happens before system calls are
    /// filtered.
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
        let files = BTreeMap::from([("main.js".to_owned(), source.to_owned())]);
        let compiled = Rc::new(CompiledBundle::compile(&files, limits)?);
        let task = Task::Scheduled("{}".to_owned());
        let outcome =
            task_runner::run_task(task, &Bindings::default(), limits, &compiled, &self.realm, &self.pipe);
        self.realm.reset();
        outcome
    }

    /// Serves until the parent closes its pipe.
    fn serve(&mut self) {
        loop {
            let message = self.pipe.borrow_mut().receive(None);
            match message {
                Ok(Some(ToWorker::Invoke(job))) => {
                    let bundle = job.bundle;
                    let result = self.invoke(*job);
                    if !self.send_result(result) {
                        return;
                    }
                    self.realm.reset();
                    self.preload_repeated(bundle);
                }
                Ok(Some(ToWorker::Compile { files, limits })) => {
                    let compiled = run_yielding(LONG_COMPUTATION, || self.compile(files, limits));
                    if !self.send_compiled(compiled) {
                        return;
                    }
                }
                // Messages that came too late for their invocation.
                Ok(
                    Some(
                        ToWorker::CallResult { .. }
                        | ToWorker::BodyPart { .. }
                        | ToWorker::WindowUpdate(_)
                        | ToWorker::CancelStream,
                    )
                    | None,
                ) => {}
                Err(_) => return,
            }
        }
    }

    fn invoke(&mut self, job: Job) -> JobResult {
        let Job { bundle, bytecode, evict, bindings, task, limits, is_low_priority } = job;
        let used_before = budget::cpu_time();
        if let Some(evict) = evict {
            self.bundles.remove(&evict);
        }
        let free_time = if is_low_priority { Duration::ZERO } else { LONG_COMPUTATION };
        let result = run_yielding(free_time, || {
            let compiled = self.load_bundle(bundle, bytecode)?;
            task_runner::run_task(task, &bindings, limits, &compiled, &self.realm, &self.pipe)
        });
        let cpu_time_limit = Duration::from_secs(confine::MAX_PROCESS_CPU_SECONDS / 2);
        let used = budget::cpu_time();
        JobResult {
            result,
            is_cached: self.bundles.contains_key(&bundle),
            should_retire: used > cpu_time_limit,
            cpu_micros: u64::try_from(used.saturating_sub(used_before).as_micros()).unwrap_or(u64::MAX),
        }
    }

    /// Preloads a bundle that ran several times in a row: the larger it is, the sooner that is worth its cost. One that alternates
    /// with others would be loaded and discarded each time.
    fn preload_repeated(&mut self, bundle: BundleDigest) {
        let Some(compiled) = self.bundles.get(&bundle) else { return };
        if self.latest.is_none_or(|latest| latest.bundle != bundle) {
            self.latest = Some(RepeatedBundle { bundle, bytes_read: compiled.size() });
        } else if let Some(latest) = &mut self.latest {
            latest.bytes_read += compiled.size();
            if latest.bytes_read >= PRELOAD_THRESHOLD {
                self.realm.preload(compiled);
            }
        }
    }

    fn load_bundle(
        &mut self,
        bundle: BundleDigest,
        bytecode: Option<Bytes>,
    ) -> Result<Rc<CompiledBundle>, Fault> {
        if let Some(bytecode) = bytecode {
            let unreadable = || Fault::new(FailureCode::WorkerLost, "the worker cannot read the bytecode");
            let compiled = CompiledBundle::decode(&bytecode).ok_or_else(unreadable)?;
            self.bundles.insert(bundle, Rc::new(compiled));
        }
        let missing = || Fault::new(FailureCode::WorkerLost, "the worker does not have this code");
        self.bundles.get(&bundle).cloned().ok_or_else(missing)
    }

    fn compile(&self, mut files: BTreeMap<String, String>, limits: JobLimits) -> Result<Bytes, Fault> {
        if has_typescript(&files) {
            bundle::strip_types(&mut files)?;
            self.report_types_stripped()?;
        }
        let too_large = || Fault::new(FailureCode::InvalidBundle, "the compiled code is too large");
        CompiledBundle::compile(&files, limits)?.encode().ok_or_else(too_large)
    }

    /// Sends the result of a compilation. Returns false if the parent is gone.
    fn send_compiled(&self, compiled: Result<Bytes, Fault>) -> bool {
        let mut pipe = self.pipe.borrow_mut();
        let sent = match pipe.send(&FromWorker::Compiled(compiled)) {
            Ok(false) => {
                let fault = Fault::new(FailureCode::InvalidBundle, "the compiled code is too large");
                pipe.send(&FromWorker::Compiled(Err(fault)))
            }
            other => other,
        };
        sent.is_ok() && pipe.flush().is_ok()
    }

    /// Tells the parent at once that from now on a lost process is not the parser's doing.
    fn report_types_stripped(&self) -> Result<(), Fault> {
        let mut pipe = self.pipe.borrow_mut();
        pipe.send(&FromWorker::TypesStripped)
            .and_then(|_| pipe.flush())
            .map_err(|_| Fault::new(FailureCode::WorkerLost, "the parent is gone"))
    }

    /// Sends the last message of a job; a response too long for a frame becomes a fault. Returns false if the parent is gone.
    fn send_result(&self, result: JobResult) -> bool {
        let JobResult { is_cached, should_retire, cpu_micros, .. } = result;
        let mut pipe = self.pipe.borrow_mut();
        let sent = match pipe.send(&FromWorker::Completed(result)) {
            Ok(false) => {
                let fault = Fault::new(FailureCode::OutputTooLarge, "the answer is too large");
                let result = Err(fault);
                pipe.send(&FromWorker::Completed(JobResult { result, is_cached, should_retire, cpu_micros }))
            }
            other => other,
        };
        sent.is_ok() && pipe.flush().is_ok()
    }
}
