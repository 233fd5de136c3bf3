//! The account that Postgres runs as. It refuses root, so under root another account is taken, or
//! root in disguise.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::error::EmbeddedError;

/// The account a server process runs as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Account {
    /// The one this program runs as; it is not root.
    Own,
    /// Another one; this program is root.
    Other {
        /// Its user.
        uid: u32,
        /// Its group.
        gid: u32,
    },
    /// Root, seen as `nobody` inside a user namespace of its own: the files stay root's and
    /// Postgres does not notice.
    Namespace,
}

impl Account {
    /// Chooses for the cluster in `cluster`, which may not exist yet, and the programs in
    /// `binaries`.
    ///
    /// The owner of an existing cluster decides: anyone else would be refused by Postgres. A new
    /// one goes to `postgres`, else to `nobody`; when that account cannot enter one of the folders,
    /// as below `/root`, only a user namespace is left.
    pub(super) fn choose(cluster: &Path, binaries: &Path) -> Result<Self, EmbeddedError> {
        // SAFETY: geteuid has no preconditions and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            return Ok(Self::Own);
        }
        let (uid, gid) = match std::fs::metadata(cluster) {
            Ok(owner) if owner.uid() == 0 && cluster.join("PG_VERSION").exists() => return Ok(Self::Namespace),
            Ok(owner) if owner.uid() != 0 => match look_up_uid(owner.uid()) {
                Some(()) => (owner.uid(), owner.gid()),
                None => {
                    let missing = format!("user {}, who owns `{}`, has no account here", owner.uid(), cluster.display());
                    return Err(EmbeddedError::NoAccount { missing });
                }
            },
            _ => match ["postgres", "nobody"].into_iter().find_map(look_up_name) {
                Some(found) => found,
                None => return Err(EmbeddedError::NoAccount { missing: "there is no account `postgres` or `nobody`".into() }),
            },
        };
        let reachable = can_enter(cluster.parent().unwrap_or(cluster), uid, gid) && can_enter(binaries, uid, gid);
        Ok(if reachable { Self::Other { uid, gid } } else { Self::Namespace })
    }

    /// Makes the account the owner of `path`.
    pub(super) fn give(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Other { uid, gid } => chown(path, Some(uid), Some(gid)),
            Self::Own | Self::Namespace => Ok(()),
        }
    }

    /// The user whose files the account makes, as this program sees it.
    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Other { uid, .. } => uid,
            // SAFETY: geteuid has no preconditions and cannot fail.
            Self::Own | Self::Namespace => unsafe { libc::geteuid() },
        }
    }

    /// A command that runs as the account, knows nothing of this program's environment (which may
    /// hold keys), stays clear of the terminal's Ctrl-C, and gets `signal` when the *thread* that
    /// spawns it ends, on Linux.
    pub(super) fn command(self, program: &Path, signal: libc::c_int) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC");
        command.current_dir("/").stdin(Stdio::null()).process_group(0);
        match self {
            Self::Own => {}
            Self::Other { uid, gid } => {
                command.uid(uid).gid(gid);
            }
            // SAFETY: the closure makes only system calls that are allowed between fork and exec;
            // it allocates nothing.
            Self::Namespace => unsafe {
                command.pre_exec(enter_namespace);
            },
        }
        die_with_parent(&mut command, signal);
        command
    }
}

/// Arranges that the kernel ends the process when this program is killed. It must come last: a
/// change of account clears it.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command, signal: libc::c_int) {
    let parent = std::process::id();
    // SAFETY: prctl, getppid and _exit are allowed between fork and exec, and take no pointers
    // here.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, signal) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The program may have died before the line above: then nothing would ever end us.
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

/// Other systems have no such signal: there the next start ends what was left.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command, _: libc::c_int) {}

/// Moves the calling process into a user namespace in which root is `nobody`. Runs between fork and
/// exec.
#[cfg(target_os = "linux")]
fn enter_namespace() -> io::Result<()> {
    // SAFETY: unshare takes no pointers; the process has one thread, as a new user namespace
    // demands.
    if unsafe { libc::unshare(libc::CLONE_NEWUSER) } != 0 {
        return Err(io::Error::last_os_error());
    }
    put(c"/proc/self/setgroups", b"deny")?;
    put(c"/proc/self/uid_map", b"65534 0 1")?;
    put(c"/proc/self/gid_map", b"65534 0 1")
}

#[cfg(not(target_os = "linux"))]
fn enter_namespace() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes a file of the kernel without allocating.
#[cfg(target_os = "linux")]
fn put(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: the path ends in NUL, the buffer is as long as we say, and the descriptor is the one
    // just opened.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        let written = libc::write(file, text.as_ptr().cast(), text.len());
        let error = io::Error::last_os_error();
        libc::close(file);
        if written == text.len().cast_signed() { Ok(()) } else { Err(error) }
    }
}

/// True if an account may pass through `folder` and everything above it.
fn can_enter(folder: &Path, uid: u32, gid: u32) -> bool {
    folder.ancestors().all(|folder| {
        std::fs::metadata(folder).is_ok_and(|folder| {
            let bit = match folder {
                ref owned if owned.uid() == uid => 0o100,
                ref shared if shared.gid() == gid => 0o010,
                _ => 0o001,
            };
            folder.mode() & bit != 0
        })
    })
}

fn look_up_name(name: &str) -> Option<(u32, u32)> {
    let name = CString::new(name).ok()?;
    look_up(|entry, buffer, found| {
        // SAFETY: the name ends in NUL; the other pointers and the length come from `look_up`,
        // which owns what they point to.
        unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer.as_mut_ptr(), buffer.len(), found) }
    })
}

fn look_up_uid(uid: u32) -> Option<()> {
    look_up(|entry, buffer, found| {
        // SAFETY: the pointers and the length come from `look_up`, which owns what they point to.
        unsafe { libc::getpwuid_r(uid, entry, buffer.as_mut_ptr(), buffer.len(), found) }
    })
    .map(|_| ())
}

/// User and group of the account that `ask` finds.
fn look_up(ask: impl Fn(*mut libc::passwd, &mut [libc::c_char], *mut *mut libc::passwd) -> libc::c_int) -> Option<(u32, u32)> {
    let mut buffer = vec![0; 16 * 1024];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    if ask(entry.as_mut_ptr(), &mut buffer, &raw mut found) != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call succeeded and `found` is not null, so it points to `entry`, which the call
    // has filled.
    let entry = unsafe { entry.assume_init() };
    Some((entry.pw_uid, entry.pw_gid))
}

#[cfg(test)]
mod tests;
