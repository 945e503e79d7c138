//! One invocation: runs a bundle in a realm that was reset, and drives its promises until they settle.

use std::{cell::RefCell, rc::Rc};

use bytes::Bytes;
use kernel::wide_integers;
use process_snapshot::copy_bytes;
use rquickjs::{
    ArrayBuffer, Ctx, Function, Module, Object, Promise, TypedArray, Value, convert::List, module::Evaluated,
    promise::PromiseState,
};
use runs::engine::{Bindings, FailureCode, HostError};

use super::{
    bundle::CompiledBundle,
    natives::{MAX_PENDING_SECRETS, PendingSecret, unflatten_pairs},
    parent_pipe::ParentPipe,
    realm::AppRealm,
};
use crate::protocol::{
    BufferedResponse, CANCEL_GRACE, Fault, FetchedHead, HostCallOutput, JobLimits, MAX_FAILURE_MESSAGE,
    Outcome, Request, ResponseHead, Task, ToWorker, truncate_text,
};

/// Promise jobs between two checks of the budget. Within a job the engine's interrupt handler checks it.
const JOBS_PER_BUDGET_CHECK: u32 = 16;

/// Runs a task of a compiled bundle. The realm is not reset afterwards: that can wait until the response is on its way.
pub(super) fn run_task(
    task: Task,
    bindings: &Bindings,
    limits: JobLimits,
    compiled: &Rc<CompiledBundle>,
    realm: &AppRealm,
    pipe: &RefCell<ParentPipe>,
) -> Result<Outcome, Fault> {
    realm.start_invocation(limits, compiled)?;
    let result = realm
        .context()
        .with(|ctx| TaskRunner { ctx: &ctx, realm, pipe, limits }.execute(compiled, task, bindings));
    realm.invocation.report_dropped_lines();
    // An exceeded limit wins over whatever the code returned.
    let fault = realm.invocation.stream_fault(realm.budget().fault());
    let result = fault.map_or(result, Err);
    result.map_err(|mut fault| {
        truncate_text(&mut fault.message, MAX_FAILURE_MESSAGE);
        fault
    })
}

struct TaskRunner<'a, 'js> {
    ctx: &'a Ctx<'js>,
    realm: &'a AppRealm,
    pipe: &'a RefCell<ParentPipe>,
    limits: JobLimits,
}

/// Functions of the prelude that Rust calls.
struct PreludeFunctions<'js> {
    object: Object<'js>,
    settle: Function<'js>,
    fire: Function<'js>,
    failure: Function<'js>,
}

impl PreludeFunctions<'_> {
    /// Calls a function that few invocations need.
    fn call(&self, name: &str) -> rquickjs::Result<()> {
        self.object.get::<_, Function<'_>>(name)?.call(())
    }
}

impl<'js> TaskRunner<'_, 'js> {
    fn execute(&self, compiled: &CompiledBundle, task: Task, bindings: &Bindings) -> Result<Outcome, Fault> {
        let driver = self.begin_invocation().map_err(|error| self.internal_fault(&error))?;
        let module = self.load(compiled, &driver, matches!(task, Task::Check))?;
        let namespace = module.namespace().map_err(|error| self.internal_fault(&error))?;
        let names = env_names(bindings);
        let promise: Result<Promise<'js>, _> = match task {
            Task::Check => {
                let (scheduled, fetch) = driver
                    .object
                    .get::<_, Function<'js>>("handlers")
                    .and_then(|handlers| handlers.call::<_, Vec<bool>>((namespace,)))
                    .map(|found| (found.first() == Some(&true), found.get(1) == Some(&true)))
                    .map_err(|error| self.exception_fault(&driver, &error))?;
                return Ok(Outcome::Handlers { scheduled, fetch });
            }
            Task::Scheduled(event) => {
                // Nearly all events are read as they are.
                let readable = wide_integers::as_texts(event.as_bytes());
                let readable = readable.and_then(|json| String::from_utf8(json).ok());
                let (json, original) = match readable {
                    Some(json) => (json, Some(event)),
                    None => (event, None),
                };
                let entry = driver.object.get::<_, Function<'js>>("scheduled");
                entry.and_then(|entry| entry.call((namespace, json, names, original)))
            }
            Task::Fetch(request) => self.call_fetch(&driver, namespace, request, names),
        };
        let promise = promise.map_err(|error| self.exception_fault(&driver, &error))?;
        self.drive_until_settled(&driver, &promise)?;
        match promise.result::<Vec<Value<'js>>>() {
            Some(Ok(answer)) => self.outcome(answer),
            Some(Err(error)) => Err(self.exception_fault(&driver, &error)),
            None => Err(never_settled_fault()),
        }
    }

    /// Tells the prelude that an invocation begins, and returns its functions.
    fn begin_invocation(&self) -> rquickjs::Result<PreludeFunctions<'js>> {
        let object = self.realm.driver(self.ctx)?;
        object.get::<_, Function<'js>>("begin")?.call::<_, ()>(())?;
        Ok(PreludeFunctions {
            settle: object.get("settle")?,
            fire: object.get("fire")?,
            failure: object.get("failure")?,
            object,
        })
    }

    /// Links and evaluates the entry module. A failure to link is [`FailureCode::InvalidBundle`]; in a check, an exception of the
    /// top level is too, and so is waiting: no timer fires, and no result of a call is taken.
    fn load(
        &self,
        compiled: &CompiledBundle,
        driver: &PreludeFunctions<'js>,
        check: bool,
    ) -> Result<Module<'js, Evaluated>, Fault> {
        let invalid = |mut fault: Fault| {
            fault.code = FailureCode::InvalidBundle;
            fault
        };
        let (module, promise) = self
            .realm
            .entry_module(self.ctx, compiled)
            .and_then(Module::eval)
            .map_err(|error| invalid(self.exception_fault(driver, &error)))?;
        if check {
            self.run_jobs()?;
            while self.log_rejections(driver, &promise) {
                self.run_jobs()?;
            }
            if promise.state() == PromiseState::Pending {
                return Err(waiting_fault());
            }
        } else {
            self.drive_until_settled(driver, &promise)?;
        }
        match promise.result::<Value<'js>>() {
            Some(Err(error)) => {
                let fault = self.exception_fault(driver, &error);
                // A check allows no call at all.
                let is_call = fault.host_code.as_deref() == Some("too_many_calls");
                Err(match check {
                    true if is_call => waiting_fault(),
                    true => invalid(fault),
                    false => fault,
                })
            }
            Some(Ok(_)) => Ok(module),
            None => Err(never_settled_fault()),
        }
    }

    fn call_fetch(
        &self,
        driver: &PreludeFunctions<'js>,
        namespace: Object<'js>,
        request: Request,
        names: EnvNames,
    ) -> rquickjs::Result<Promise<'js>> {
        let entry: Function<'js> = driver.object.get("fetch")?;
        let body = ArrayBuffer::new_copy(self.ctx.clone(), &request.body)?;
        entry.call((namespace, request.method, request.url, flatten_pairs(request.headers), body, names))
    }

    /// Runs jobs, timers and results of host calls until the promise is settled or a limit is exceeded.
    fn drive_until_settled(
        &self,
        driver: &PreludeFunctions<'js>,
        promise: &Promise<'js>,
    ) -> Result<(), Fault> {
        loop {
            self.run_jobs()?;
            if self.log_rejections(driver, promise) {
                continue;
            }
            if promise.state() != PromiseState::Pending {
                return Ok(());
            }
            if let Some(id) = self.realm.invocation.pop_due_timer() {
                self.map_exception(driver, driver.fire.call::<_, ()>((id,)))?;
                continue;
            }
            let Some(wake) = self.realm.invocation.next_wakeup(self.realm.budget().wall_deadline()) else {
                return Err(never_settled_fault());
            };
            let message = self.pipe.borrow_mut().receive(Some(wake));
            match message {
                Ok(Some(ToWorker::CallResult { call, result })) => {
                    if self.realm.invocation.finish_call(call) {
                        self.map_exception(driver, self.settle_call(driver, call, result))?;
                    }
                }
                Ok(Some(ToWorker::BodyPart { call, part })) => {
                    if self.realm.invocation.finish_call(call) {
                        self.map_exception(driver, self.take_body_part(driver, call, part))?;
                    }
                }
                Ok(Some(ToWorker::WindowUpdate(count))) => {
                    if self.realm.invocation.extend_window(count) {
                        self.map_exception(driver, driver.call("room"))?;
                    }
                }
                Ok(Some(ToWorker::CancelStream)) => {
                    self.realm.invocation.cancel_stream();
                    self.realm.budget().shorten_deadline(CANCEL_GRACE);
                    self.map_exception(driver, driver.call("hangUp"))?;
                }
                // The parent is gone, or breaks the protocol: it sends no job while one runs.
                Ok(Some(ToWorker::Compile { .. } | ToWorker::Invoke(_))) | Err(_) => std::process::exit(0),
                Ok(None) => {}
            }
        }
    }

    /// Logs why promises were rejected that nothing handles although no job is left. Returns true if there were any: app code may
    /// have run while their reasons were looked at.
    fn log_rejections(&self, driver: &PreludeFunctions<'js>, awaited: &Promise<'js>) -> bool {
        let reasons = self.realm.rejections.take_reasons(self.ctx, awaited);
        let has_any = !reasons.is_empty();
        for reason in reasons {
            // The log changes nothing about the result.
            let logged = driver.object.get::<_, Function<'js>>("logRejection");
            if logged.and_then(|log| log.call::<_, ()>((reason,))).is_err_and(|error| error.is_exception()) {
                self.ctx.catch();
            }
        }
        has_any
    }

    fn run_jobs(&self) -> Result<(), Fault> {
        let mut ran = 0_u32;
        loop {
            if ran.is_multiple_of(JOBS_PER_BUDGET_CHECK) {
                self.realm.invocation.flush_stream();
                if let Some(fault) = self.realm.budget().fault() {
                    return Err(fault);
                }
            }
            if !self.ctx.execute_pending_job() {
                return self.realm.budget().fault().map_or(Ok(()), Err);
            }
            ran = ran.wrapping_add(1);
        }
    }

    fn settle_call(
        &self,
        driver: &PreludeFunctions<'js>,
        call: u32,
        result: Result<HostCallOutput, HostError>,
    ) -> rquickjs::Result<()> {
        match result {
            Ok(HostCallOutput::Response(FetchedHead { status, headers, redirected_to }, body)) => {
                let body = ArrayBuffer::new_copy(self.ctx.clone(), &body)?;
                driver.settle.call((call, true, status, flatten_pairs(headers), Some(body), redirected_to))
            }
            Ok(HostCallOutput::Head(FetchedHead { status, headers, redirected_to })) => {
                self.realm.invocation.begin_body(call);
                let body = None::<ArrayBuffer<'js>>;
                driver.settle.call((call, true, status, flatten_pairs(headers), body, redirected_to))
            }
            Ok(HostCallOutput::Json(json)) => driver.settle.call((call, true, json)),
            Ok(HostCallOutput::Secret { text, uses }) => {
                let secret = PendingSecret { text: text.0, uses };
                match self.realm.invocation.held_values.keep(secret, MAX_PENDING_SECRETS) {
                    Some(number) => driver.settle.call((call, true, number)),
                    None => {
                        let message = "the code imports too many secrets at once";
                        driver.settle.call((call, false, "too_many_calls", message))
                    }
                }
            }
            Err(HostError { code, message }) => driver.settle.call((call, false, code, message)),
        }
    }

    /// Hands a part of a response's body on; an empty one ends it.
    fn take_body_part(
        &self,
        driver: &PreludeFunctions<'js>,
        call: u32,
        part: Result<Bytes, HostError>,
    ) -> rquickjs::Result<()> {
        let take: Function<'_> = driver.object.get("takePart")?;
        if part.as_ref().map_or(true, Bytes::is_empty) {
            self.realm.invocation.end_body(call);
        }
        match part {
            Ok(part) => take.call((call, true, ArrayBuffer::new_copy(self.ctx.clone(), &part)?)),
            Err(HostError { code, message }) => take.call((call, false, code, message)),
        }
    }

    /// Converts an exception of a prelude function. One is thrown only if a limit is exceeded or app code has changed the built-in
    /// objects that the prelude uses.
    fn map_exception(
        &self,
        driver: &PreludeFunctions<'js>,
        result: rquickjs::Result<()>,
    ) -> Result<(), Fault> {
        result.map_err(|error| self.exception_fault(driver, &error))
    }

    fn outcome(&self, answer: Vec<Value<'js>>) -> Result<Outcome, Fault> {
        let mut answer = answer.into_iter();
        let mut next = || answer.next().unwrap_or_else(|| Value::new_undefined(self.ctx.clone()));
        let broken = |error: rquickjs::Error| self.internal_fault(&error);
        let kind: String = next().get().map_err(broken)?;
        match kind.as_str() {
            "json" => {
                let json: String = next().get().map_err(broken)?;
                self.check_output_size(json.len())?;
                Ok(Outcome::Json(json))
            }
            "response" => {
                let status = next().get().map_err(broken)?;
                let headers = unflatten_pairs(next().get().map_err(broken)?);
                let body: Option<TypedArray<'js, u8>> = next().get().map_err(broken)?;
                self.check_output_size(body.as_ref().map_or(0, TypedArray::len))?;
                let body = body.as_ref().and_then(copy_bytes).unwrap_or_default().into();
                Ok(Outcome::Response(BufferedResponse { head: ResponseHead { status, headers }, body }))
            }
            "streamed" => Ok(Outcome::Streamed),
            "missing" => {
                let name: String = next().get().map_err(broken)?;
                let message = format!("the bundle does not export a handler called {name}");
                Err(Fault::new(FailureCode::HandlerMissing, message))
            }
            _ => Err(Fault {
                code: FailureCode::AppError,
                message: next().get().map_err(broken)?,
                host_code: next().get().map_err(broken)?,
            }),
        }
    }

    fn check_output_size(&self, length: usize) -> Result<(), Fault> {
        if length as u64 <= self.limits.output {
            return Ok(());
        }
        let message =
            format!("the code gave back {length} bytes; at most {} are allowed", self.limits.output);
        Err(Fault::new(FailureCode::OutputTooLarge, message))
    }

    /// Converts an exception, which the prelude describes.
    fn exception_fault(&self, driver: &PreludeFunctions<'js>, error: &rquickjs::Error) -> Fault {
        if let Some(fault) = self.realm.budget().fault() {
            return fault;
        }
        if !error.is_exception() {
            return self.internal_fault(error);
        }
        let value = self.ctx.catch();
        let described = driver.failure.call::<_, Vec<Value<'js>>>((value,)).and_then(|parts| {
            let undefined = || Value::new_undefined(self.ctx.clone());
            let mut parts = parts.into_iter().skip(1);
            let message: String = parts.next().unwrap_or_else(undefined).get()?;
            let host_code: Option<String> = parts.next().unwrap_or_else(undefined).get()?;
            Ok((message, host_code))
        });
        match described {
            Ok((message, host_code)) => Fault { code: FailureCode::AppError, message, host_code },
            Err(error) => self.internal_fault(&error),
        }
    }

    fn internal_fault(&self, error: &rquickjs::Error) -> Fault {
        if error.is_exception() {
            self.ctx.catch();
        }
        let message = format!("the code broke the ground it stands on: {error}");
        self.realm.budget().fault().unwrap_or_else(|| Fault::new(FailureCode::AppError, message))
    }
}

/// Projects, connections, and pairs of a secret's name and its text, if the code has it in clear.
type EnvNames = List<(Vec<String>, Vec<String>, Vec<Option<String>>)>;

fn env_names(bindings: &Bindings) -> EnvNames {
    let pairs = bindings.secrets.iter().flat_map(|secret| [Some(secret.name.clone()), secret.clear.clone()]);
    List((bindings.data.clone(), bindings.connections.clone(), pairs.collect()))
}

/// The fault of a module that waits at its top level while it is checked.
fn waiting_fault() -> Fault {
    Fault::new(
        FailureCode::InvalidBundle,
        "its top level waits for a timer or a call to the outside, which code may only do in a handler",
    )
}

fn never_settled_fault() -> Fault {
    Fault::new(
        FailureCode::NeverSettled,
        "the handler awaits a promise that nothing will settle: no call to the outside and no timer is pending",
    )
}

fn flatten_pairs(headers: Vec<(String, String)>) -> Vec<String> {
    headers.into_iter().flat_map(|(name, value)| [name, value]).collect()
}
