//! One invocation: the bundle in a realm that is as new, and the loop that drives its promises.

use std::{cell::RefCell, rc::Rc};

use rquickjs::{
    ArrayBuffer, Ctx, Function, Module, Object, Promise, TypedArray, Value, module::Evaluated,
    promise::PromiseState,
};
use runs::engine::{Bindings, FailureCode, HostError};

use super::{
    bundle::{Compiled, ENTRY},
    natives::pairs,
    pipe::Pipe,
    realm::AppRealm,
};
use crate::protocol::{
    Fault, Head, JobLimits, MAX_MESSAGE, Outcome, PARTING, Request, Response, Settled, Task, ToWorker, Whole,
    cut,
};

/// Jobs between two looks at the budget; code inside a job is interrupted by the engine.
const JOBS_PER_LOOK: u32 = 16;

/// Runs `task` of a compiled bundle. Its traces stay in the realm until that is restored, which can wait until the
/// answer is on its way.
pub(super) fn run(
    task: Task,
    bindings: &Bindings,
    limits: JobLimits,
    compiled: &Rc<Compiled>,
    realm: &AppRealm,
    pipe: &RefCell<Pipe>,
) -> Result<Outcome, Fault> {
    realm.begin(limits, compiled)?;
    let verdict =
        realm.context().with(|ctx| Run { ctx: &ctx, realm, pipe, limits }.start(compiled, task, bindings));
    realm.session.close_log();
    // A limit that was exceeded decides, whatever the code made of it.
    let fault = realm.session.sending_fault(realm.budget().fault());
    let verdict = fault.map_or(verdict, Err);
    verdict.map_err(|mut fault| {
        cut(&mut fault.message, MAX_MESSAGE);
        fault
    })
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    realm: &'a AppRealm,
    pipe: &'a RefCell<Pipe>,
    limits: JobLimits,
}

/// The functions of the prelude that Rust calls.
struct Driver<'js> {
    object: Object<'js>,
    settle: Function<'js>,
    fire: Function<'js>,
    failure: Function<'js>,
}

impl Driver<'_> {
    /// Calls what few invocations need.
    fn say(&self, name: &str) -> rquickjs::Result<()> {
        self.object.get::<_, Function<'_>>(name)?.call(())
    }
}

impl<'js> Run<'_, 'js> {
    fn start(&self, compiled: &Compiled, task: Task, bindings: &Bindings) -> Result<Outcome, Fault> {
        let driver = self.driver().map_err(|error| self.internal(&error))?;
        let module = self.load(compiled, &driver, matches!(task, Task::Check))?;
        let namespace = module.namespace().map_err(|error| self.internal(&error))?;
        let arrays = (bindings.data.clone(), bindings.connections.clone());
        let promise: Result<Promise<'js>, _> = match task {
            Task::Check => {
                let (scheduled, fetch) = driver
                    .object
                    .get::<_, Function<'js>>("handlers")
                    .and_then(|handlers| handlers.call::<_, Vec<bool>>((namespace,)))
                    .map(|found| (found.first() == Some(&true), found.get(1) == Some(&true)))
                    .map_err(|error| self.thrown(&driver, &error))?;
                return Ok(Outcome::Handlers { scheduled, fetch });
            }
            Task::Scheduled(event) => driver
                .object
                .get::<_, Function<'js>>("scheduled")
                .and_then(|entry| entry.call((namespace, event, arrays.0, arrays.1))),
            Task::Fetch(request) => self.call_fetch(&driver, namespace, request, arrays),
        };
        let promise = promise.map_err(|error| self.thrown(&driver, &error))?;
        self.until_settled(&driver, &promise)?;
        match promise.result::<Vec<Value<'js>>>() {
            Some(Ok(answer)) => self.outcome(answer),
            Some(Err(error)) => Err(self.thrown(&driver, &error)),
            None => Err(never_settled()),
        }
    }

    /// The driver, told that an invocation begins.
    fn driver(&self) -> rquickjs::Result<Driver<'js>> {
        let object = self.realm.driver(self.ctx)?;
        object.get::<_, Function<'js>>("begin")?.call::<_, ()>(())?;
        Ok(Driver {
            settle: object.get("settle")?,
            fire: object.get("fire")?,
            failure: object.get("failure")?,
            object,
        })
    }

    /// Links and evaluates the entry module. What fails in linking is the bundle's fault; what the top level
    /// throws is too when it is only checked.
    fn load(
        &self,
        compiled: &Compiled,
        driver: &Driver<'js>,
        check: bool,
    ) -> Result<Module<'js, Evaluated>, Fault> {
        let invalid = |mut fault: Fault| {
            fault.code = FailureCode::InvalidBundle;
            fault
        };
        let (module, promise) = compiled
            .load(self.ctx, ENTRY)
            .and_then(Module::eval)
            .map_err(|error| invalid(self.thrown(driver, &error)))?;
        self.until_settled(driver, &promise)?;
        match promise.result::<Value<'js>>() {
            Some(Err(error)) => {
                let fault = self.thrown(driver, &error);
                Err(if check { invalid(fault) } else { fault })
            }
            Some(Ok(_)) => Ok(module),
            None => Err(never_settled()),
        }
    }

    fn call_fetch(
        &self,
        driver: &Driver<'js>,
        namespace: Object<'js>,
        request: Request,
        (data, connections): (Vec<String>, Vec<String>),
    ) -> rquickjs::Result<Promise<'js>> {
        let entry: Function<'js> = driver.object.get("fetch")?;
        let body = ArrayBuffer::new_copy(self.ctx.clone(), &request.body)?;
        entry.call((namespace, request.method, request.url, flat(request.headers), body, data, connections))
    }

    /// Runs jobs, timers and host answers until the promise is settled or a limit is exceeded.
    fn until_settled(&self, driver: &Driver<'js>, promise: &Promise<'js>) -> Result<(), Fault> {
        loop {
            self.run_jobs()?;
            if promise.state() != PromiseState::Pending {
                return Ok(());
            }
            if let Some(id) = self.realm.session.due_timer() {
                self.tell(driver, driver.fire.call::<_, ()>((id,)))?;
                continue;
            }
            let Some(wake) = self.realm.session.next_event(self.realm.budget().wall()) else {
                return Err(never_settled());
            };
            let message = self.pipe.borrow_mut().receive(Some(wake));
            match message {
                Ok(Some(ToWorker::Settle { call, result })) => {
                    if self.realm.session.finish_call(call) {
                        self.tell(driver, self.settle(driver, call, result))?;
                    }
                }
                Ok(Some(ToWorker::Taken(count))) => {
                    if self.realm.session.taken(count) {
                        self.tell(driver, driver.say("room"))?;
                    }
                }
                Ok(Some(ToWorker::HangUp)) => {
                    self.realm.session.hang_up();
                    self.realm.budget().leave(PARTING);
                    self.tell(driver, driver.say("hangUp"))?;
                }
                // The parent asks for nothing else while a job runs.
                Ok(Some(ToWorker::Invoke(_))) | Err(_) => std::process::exit(0),
                Ok(None) => {}
            }
        }
    }

    fn run_jobs(&self) -> Result<(), Fault> {
        let mut ran = 0_u32;
        loop {
            if ran.is_multiple_of(JOBS_PER_LOOK) {
                self.realm.session.hand_over();
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

    fn settle(
        &self,
        driver: &Driver<'js>,
        call: u32,
        result: Result<Settled, HostError>,
    ) -> rquickjs::Result<()> {
        match result {
            Ok(Settled::Response(Response { status, headers, body })) => {
                let body = ArrayBuffer::new_copy(self.ctx.clone(), &body)?;
                driver.settle.call((call, true, status, flat(headers), body))
            }
            Ok(Settled::Json(json)) => driver.settle.call((call, true, json)),
            Err(HostError { code, message }) => driver.settle.call((call, false, code, message)),
        }
    }

    /// The prelude's own functions throw only when a limit is exceeded or app code broke their footing.
    fn tell(&self, driver: &Driver<'js>, result: rquickjs::Result<()>) -> Result<(), Fault> {
        result.map_err(|error| self.thrown(driver, &error))
    }

    fn outcome(&self, answer: Vec<Value<'js>>) -> Result<Outcome, Fault> {
        let mut answer = answer.into_iter();
        let mut next = || answer.next().unwrap_or_else(|| Value::new_undefined(self.ctx.clone()));
        let broken = |error: rquickjs::Error| self.internal(&error);
        let kind: String = next().get().map_err(broken)?;
        match kind.as_str() {
            "json" => {
                let json: String = next().get().map_err(broken)?;
                self.fits(json.len())?;
                Ok(Outcome::Json(json))
            }
            "response" => {
                let status = next().get().map_err(broken)?;
                let headers = pairs(next().get().map_err(broken)?);
                let body: Option<TypedArray<'js, u8>> = next().get().map_err(broken)?;
                self.fits(body.as_ref().map_or(0, TypedArray::len))?;
                let body = body.as_ref().and_then(super::raw::copy_bytes).unwrap_or_default().into();
                Ok(Outcome::Response(Whole { head: Head { status, headers }, body }))
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

    fn fits(&self, length: usize) -> Result<(), Fault> {
        if length as u64 <= self.limits.output {
            return Ok(());
        }
        let message =
            format!("the code gave back {length} bytes; at most {} are allowed", self.limits.output);
        Err(Fault::new(FailureCode::OutputTooLarge, message))
    }

    /// What was thrown, told by the prelude.
    fn thrown(&self, driver: &Driver<'js>, error: &rquickjs::Error) -> Fault {
        if let Some(fault) = self.realm.budget().fault() {
            return fault;
        }
        if !error.is_exception() {
            return self.internal(error);
        }
        let value = self.ctx.catch();
        let told = driver.failure.call::<_, Vec<Value<'js>>>((value,)).and_then(|told| {
            let undefined = || Value::new_undefined(self.ctx.clone());
            let mut told = told.into_iter().skip(1);
            let message: String = told.next().unwrap_or_else(undefined).get()?;
            let host_code: Option<String> = told.next().unwrap_or_else(undefined).get()?;
            Ok((message, host_code))
        });
        match told {
            Ok((message, host_code)) => Fault { code: FailureCode::AppError, message, host_code },
            Err(error) => self.internal(&error),
        }
    }

    fn internal(&self, error: &rquickjs::Error) -> Fault {
        if error.is_exception() {
            self.ctx.catch();
        }
        let message = format!("the code broke the ground it stands on: {error}");
        self.realm.budget().fault().unwrap_or_else(|| Fault::new(FailureCode::AppError, message))
    }
}

fn never_settled() -> Fault {
    Fault::new(
        FailureCode::NeverSettled,
        "the handler awaits a promise that nothing will settle: no call to the outside and no timer is pending",
    )
}

fn flat(headers: Vec<(String, String)>) -> Vec<String> {
    headers.into_iter().flat_map(|(name, value)| [name, value]).collect()
}
