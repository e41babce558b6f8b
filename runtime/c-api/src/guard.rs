//! Where a call of C's enters and leaves: a refusal becomes a status, and so would a panic.

use crate::failure::{Failure, Message};
use crate::status::Status;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call.
///
/// After a panic the caller's memory may be half changed, which is why what `call` captures need not be unwind-safe:
/// all of it is plain numbers, and every later call checks what it reads.
#[inline]
pub fn guard(call: impl FnOnce() -> Result<(), Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => failure.status(),
        Err(payload) => {
            // A payload's own drop could panic.
            core::mem::forget(payload);
            Status::Internal
        }
    }
}

/// Runs the short way through a call, and the other where it is none. What is for the other is nothing to the first,
/// whose function stays as short as it can be.
#[inline(always)]
pub fn guard_quickly(quickly: impl FnOnce() -> Option<()>, other: impl FnOnce() -> Status) -> Status {
    match catch_unwind(AssertUnwindSafe(quickly)) {
        Ok(Some(())) => Status::Ok,
        Ok(None) => other(),
        Err(payload) => {
            // As in `guard`.
            core::mem::forget(payload);
            Status::Internal
        }
    }
}

/// The same, with the reason in the caller's buffer, which is left empty where there is none.
///
/// # Safety
/// As promised for [`Message::new`].
pub unsafe fn guard_with(message: Message, call: impl FnOnce() -> Result<(), Failure>) -> Status {
    let status = guard(|| {
        let done = call();
        match &done {
            // SAFETY: the caller's own promise.
            Err(failure) => unsafe { message.write(failure) },
            // SAFETY: the same.
            Ok(()) => unsafe { message.write("") },
        }
        done
    });
    if status == Status::Internal {
        // SAFETY: the same.
        unsafe { message.write(Failure::from(status)) }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::{guard, guard_quickly};
    use crate::status::Status;

    #[test]
    fn a_panic_ends_in_a_status() {
        assert_eq!(guard(|| panic!("on purpose")), Status::Internal);
        assert_eq!(guard(|| Err(Status::Differs.into())), Status::Differs);
        assert_eq!(guard(|| Ok(())), Status::Ok);
    }

    #[test]
    fn the_other_way_is_gone_where_the_short_one_is_none() {
        let other = || Status::Differs;
        assert_eq!(guard_quickly(|| Some(()), other), Status::Ok);
        assert_eq!(guard_quickly(|| None, other), Status::Differs);
        assert_eq!(guard_quickly(|| panic!("on purpose"), other), Status::Internal);
    }
}
