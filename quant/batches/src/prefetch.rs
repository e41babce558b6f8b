//! Batches prepared by a thread while others are used.

use super::batch::Batch;
use super::error::BatchError;
use super::pipeline::Pipeline;
use super::summary::Summary;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// A pipeline in a thread of its own, ahead by a bounded number of batches. Dropped before its end it stops.
pub struct Prefetch {
    receiver: Receiver<Result<Batch, BatchError>>,
    thread: JoinHandle<Summary>,
}

impl Prefetch {
    /// Starts the thread; it keeps at most `depth` batches ready.
    #[must_use]
    pub fn start(mut pipeline: Pipeline, depth: usize) -> Self {
        let (sender, receiver) = sync_channel(depth);
        let thread = std::thread::spawn(move || {
            for batch in &mut pipeline {
                // Nobody listens any more.
                if sender.send(batch).is_err() {
                    break;
                }
            }
            pipeline.into_summary()
        });
        Self { receiver, thread }
    }

    /// What became of the lines; call it behind the last batch.
    ///
    /// # Errors
    /// [`BatchError::Lost`] if the thread panicked.
    pub fn finish(self) -> Result<Summary, BatchError> {
        drop(self.receiver);
        self.thread.join().map_err(|_| BatchError::Lost)
    }
}

impl Iterator for Prefetch {
    type Item = Result<Batch, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receiver.recv().ok()
    }
}
