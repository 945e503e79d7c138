//! Confinement of the worker process to what running JavaScript needs.
//!
//! Each step is taken as far as the machine permits, and reported. None is fatal: the engine itself gives app code no way to
//! the system, and this is the second layer of defence, against a flaw in the engine.

use std::collections::BTreeMap;

use process_snapshot::{Namespace, close_inherited_descriptors, unshare_namespace};
use rustix::{
    process::{
        DumpableBehavior, Resource, Rlimit, Signal, chdir, set_dumpable_behavior,
        set_parent_process_death_signal, setrlimit,
    },
    thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs},
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::protocol::Confinement;

/// Bytes of address space of a process, at most.
const MAX_ADDRESS_SPACE: u64 = 1 << 30;
/// Seconds of processor time of a process over all its invocations, at most.
pub(super) const MAX_PROCESS_CPU_SECONDS: u64 = 300;

/// The layers that the fork server has set up, and the filter that is left for [`confine_worker`].
pub(super) struct PartialConfinement {
    confinement: Confinement,
    filter: Option<BpfProgram>,
}

/// Sets up the layers that neither the fork server nor the warm-up, which reads files, is hindered by. Call it first thing in
/// `main`.
pub(super) fn confine_fork_server() -> PartialConfinement {
    close_inherited_descriptors();
    // Another process of the same user must not read the heap.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = chdir("/");
    let user_namespace = unshare_namespace(Namespace::User);
    let network_namespace = unshare_namespace(Namespace::Network);
    let no_capabilities = drop_capabilities();
    // After the namespaces: the kernel forgets the signal when credentials change.
    let dies_with_parent = set_parent_death_signal();
    let no_new_privs = set_no_new_privs(true).is_ok();
    let rlimits =
        set_rlimits(&[(Resource::As, MAX_ADDRESS_SPACE), (Resource::Core, 0), (Resource::Fsize, 0)]);
    let confinement = Confinement {
        no_new_privs,
        seccomp: false,
        user_namespace,
        network_namespace,
        no_capabilities,
        rlimits,
        dies_with_parent,
    };
    PartialConfinement { confinement, filter: build_seccomp_filter() }
}

/// Sets up the rest in each worker. From here on it can read, write, wait and manage memory.
pub(super) fn confine_worker(partial: PartialConfinement) -> Confinement {
    let PartialConfinement { mut confinement, filter } = partial;
    // A fork does not inherit it.
    confinement.dies_with_parent = set_parent_death_signal();
    confinement.rlimits &=
        set_rlimits(&[(Resource::Cpu, MAX_PROCESS_CPU_SECONDS), (Resource::Nproc, 0), (Resource::Nofile, 3)]);
    confinement.seccomp = filter.is_some_and(|program| seccompiler::apply_filter(&program).is_ok());
    confinement
}

/// Drops all capabilities, of which a process that makes a user namespace has every one in it. Returns false if the kernel
/// refuses.
fn drop_capabilities() -> bool {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).is_ok()
}

fn set_parent_death_signal() -> bool {
    set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
}

/// Sets soft and hard limits. Returns false if the kernel refuses one of them.
fn set_rlimits(limits: &[(Resource, u64)]) -> bool {
    let set = |(resource, most): &(Resource, u64)| {
        setrlimit(*resource, Rlimit { current: Some(*most), maximum: Some(*most) }).is_ok()
    };
    limits.iter().map(set).fold(true, |all, one| all & one)
}

fn build_seccomp_filter() -> Option<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into().ok()?;
    let mut rules: BTreeMap<i64, Vec<_>> =
        ALLOWED_SYSCALLS.iter().map(|number| (*number, Vec::new())).collect();
    // No memory may become executable, so that no code comes into the process.
    let exec = u64::try_from(libc::PROT_EXEC).ok()?;
    for number in [libc::SYS_mmap, libc::SYS_mprotect] {
        let plain =
            SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(exec), 0).ok()?;
        rules.insert(number, vec![SeccompRule::new(vec![plain]).ok()?]);
    }
    let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch).ok()?;
    filter.try_into().ok()
}

/// System calls of a worker. None of them opens a file or socket, makes a process or thread, or signals another process.
const ALLOWED_SYSCALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_setitimer,
    libc::SYS_setsid,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];
