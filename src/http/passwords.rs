//! Passwords: argon2id, as OWASP advises (19 MiB, 2 passes, 1 lane). A hash takes its time and its
//! memory on purpose, so no more than two are made at once, on threads that may block.

use std::sync::Arc;

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::clock::Random;

/// Memory in KiB, passes, lanes.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// How many are made at once.
const AT_ONCE: usize = 2;

/// Makes and tries hashes.
pub(super) struct Passwords {
    random: Arc<dyn Random>,
    room: Semaphore,
}

impl Passwords {
    pub(super) fn new(random: Arc<dyn Random>) -> Self {
        Self { random, room: Semaphore::new(AT_ONCE) }
    }

    /// The hash of a password, with a salt of its own.
    pub(super) async fn hash(&self, password: String) -> String {
        let mut salt = [0; 16];
        self.random.fill(&mut salt);
        self.on_a_thread(move || hash(&password, &salt)).await
    }

    /// True if this is the password of this hash. Without a hash it takes as long, and is false.
    pub(super) async fn is_right(&self, password: String, of: Option<String>) -> bool {
        self.on_a_thread(move || match of {
            Some(of) => hasher().verify_password(password.as_bytes(), of.as_str()).is_ok(),
            None => {
                // As much work as for a user who exists: nobody learns names by the time it takes.
                hash(&password, &[0; 16]);
                false
            }
        })
        .await
    }

    async fn on_a_thread<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let _room = self.room.acquire().await.expect("it is never closed");
        tokio::task::spawn_blocking(work).await.expect("hashing does not panic")
    }
}

fn hasher() -> Argon2<'static> {
    let (memory, passes, lanes) = COST;
    let params = Params::new(memory, passes, lanes, None).expect("constants, tried by a test");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(password: &str, salt: &[u8; 16]) -> String {
    let hashed = hasher().hash_password_with_salt(password.as_bytes(), salt);
    hashed.expect("a password of any length has a hash").to_string()
}

#[cfg(test)]
mod tests;
