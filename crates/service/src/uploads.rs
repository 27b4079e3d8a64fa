//! Files that clients upload: what is on its way, and how much of it there may be.
//!
//! **The invariant it keeps:** nothing is read of a file that its owner may not have, and no owner has more than the limits
//! say. What breaks off leaves nothing behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::{ApiError, Limit};
use crate::domain::{KeptFile, now_ms};
use crate::limits::Limits;
use crate::store::uploads::{self, Incoming};
use crate::store::{Store, StoreError};

/// What is on its way.
pub(crate) struct Uploads {
    store: Arc<Store>,
    limits: Arc<Limits>,
    places: Arc<Semaphore>,
    coming: Arc<Mutex<Coming>>,
}

/// What is on its way counts as if it were there.
#[derive(Default)]
struct Coming {
    /// By owner: files and bytes.
    of_owners: BTreeMap<String, (u64, u64)>,
    /// Bytes of all of them that are not on the disk yet; several sizes may be as large as a number can be.
    missing: u128,
}

/// A place to upload to.
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// A file that is coming.
pub(crate) struct Upload {
    file: KeptFile,
    incoming: Incoming,
    share: Share,
    _place: Place,
}

/// What a file that is coming takes of what its owner may have, and of the room on the disk.
struct Share {
    coming: Arc<Mutex<Coming>>,
    owner: String,
    size: u64,
    missing: u64,
}

impl Share {
    /// So many bytes more are on the disk.
    fn arrived(&mut self, bytes: u64) {
        self.missing -= bytes;
        lock(&self.coming).missing -= u128::from(bytes);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut coming = lock(&self.coming);
        coming.missing -= u128::from(self.missing);
        if let Some((files, bytes)) = coming.of_owners.get_mut(&self.owner) {
            *files -= 1;
            *bytes -= self.size;
            if *files == 0 {
                coming.of_owners.remove(&self.owner);
            }
        }
    }
}

fn lock(coming: &Mutex<Coming>) -> MutexGuard<'_, Coming> {
    coming.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Uploads {
    pub(crate) fn new(store: Arc<Store>, limits: Arc<Limits>) -> Self {
        let places = Arc::new(Semaphore::new(limits.uploads_max as usize));
        Self { store, limits, places, coming: Arc::default() }
    }

    /// A place, before anything is read.
    pub(crate) fn place(&self) -> Result<Place, ApiError> {
        let (what, limit) = ("uploads", "uploads_max");
        let full = |_| ApiError::TooManyStreams { what, limit, allowed: self.limits.uploads_max.into() };
        let permit = self.places.clone().try_acquire_owned().map_err(full)?;
        Ok(Place { _permit: permit })
    }

    /// Lets a file come that its owner may have.
    pub(crate) async fn begin(&self, place: Place, file: KeptFile) -> Result<Upload, ApiError> {
        Limits::check(Limit::FileBytes, file.size, self.limits.file_bytes_max)?;
        let (owner, sha256) = (file.owner.clone(), file.sha256.clone());
        let there = self.store.read(move |connection| uploads::usage(connection, &owner, &sha256)).await?;
        let share = self.share(&file, there)?;
        let (store, coming, left) = (self.store.clone(), self.coming.clone(), self.limits.disk_free_bytes_min);
        let start = move || {
            // In this order, what arrives in between is counted twice rather than not at all.
            let needed = lock(&coming).missing + u128::from(left);
            if u128::from(store.free_bytes()?) < needed {
                return Err(StoreError::Full);
            }
            Incoming::start(store.folder())
        };
        let incoming = blocking(start).await?;
        Ok(Upload { file, incoming, share, _place: place })
    }

    /// Counts a file as its owner's from now on, if the owner may have it.
    fn share(&self, file: &KeptFile, there: (u64, u64)) -> Result<Share, ApiError> {
        let mut coming = lock(&self.coming);
        let (files, bytes) = coming.of_owners.get(&file.owner).copied().unwrap_or_default();
        check(&self.limits, (there.0 + files, there.1 + bytes), file.size)?;
        coming.of_owners.insert(file.owner.clone(), (files + 1, bytes + file.size));
        coming.missing += u128::from(file.size);
        Ok(Share { coming: self.coming.clone(), owner: file.owner.clone(), size: file.size, missing: file.size })
    }

    /// Keeps a file that has come as a whole; gives it as it is kept.
    pub(crate) async fn end(&self, mut upload: Upload) -> Result<KeptFile, ApiError> {
        let (expected, size) = (upload.file.sha256.clone(), upload.file.size);
        if upload.incoming.bytes() != size {
            let problem = format!("{} bytes came, the header says {size}", upload.incoming.bytes());
            return Err(ApiError::invalid("header.size", problem));
        }
        let (upload, found) = blocking(move || {
            let found = upload.incoming.finish()?;
            Ok((upload, found))
        })
        .await?;
        if found != expected {
            let problem = format!("what came has the SHA-256 {found}, the header says {expected}");
            return Err(ApiError::invalid("header.sha256", problem));
        }
        self.store.write(move |writing| uploads::announce(writing, &expected)).await?;
        let (folder, limits) = (self.store.folder().to_owned(), self.limits.clone());
        let keep = self.store.write(move |writing| {
            let file = KeptFile { uploaded_ms: now_ms(), ..upload.file.clone() };
            // Another may have come meanwhile.
            let there = uploads::usage(writing.connection, &file.owner, &file.sha256)?;
            check(&limits, there, file.size)?;
            uploads::keep(writing, &folder, &upload.incoming, &file)?;
            Ok(file)
        });
        Ok(keep.await?)
    }
}

/// Refuses a file of an owner who has so many files and bytes.
fn check(limits: &Limits, (files, bytes): (u64, u64), size: u64) -> Result<(), ApiError> {
    Limits::check(Limit::FilesPerOwner, files + 1, limits.files_per_owner_max.into())?;
    Limits::check(Limit::FileBytesPerOwner, bytes.saturating_add(size), limits.file_bytes_per_owner_max)
}

impl Upload {
    /// Takes a piece of the content.
    pub(crate) async fn put(mut self, piece: bytes::Bytes) -> Result<Self, ApiError> {
        let (came, size) = (self.incoming.bytes() + piece.len() as u64, self.file.size);
        if came > size {
            return Err(ApiError::invalid(
                "header.size",
                format!("{came} bytes and more came, the header says {size}"),
            ));
        }
        let write = move || {
            self.incoming.write(&piece)?;
            self.share.arrived(piece.len() as u64);
            Ok(self)
        };
        blocking(write).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::Internal(format!("writing a file failed: {error}")))?.map_err(ApiError::from)
}

/// Deletes a file of an owner, unless a run needs it.
pub(crate) async fn delete(store: &Store, owner: String, sha256: String) -> Result<(), ApiError> {
    let (content, folder) = (sha256.clone(), store.folder().to_owned());
    store.write(move |writing| uploads::delete(writing, &owner, &sha256)).await?;
    Ok(store.write(move |writing| uploads::remove(writing, &folder, &content)).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Told;

    #[tokio::test]
    async fn what_is_on_its_way_has_its_room_on_the_disk() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let told = Told { hub: Arc::default(), meters: Arc::default() };
        let store = Arc::new(Store::open(folder.path(), false, told).expect("it can be opened"));
        let size = store.free_bytes().expect("it can be asked") / 10 * 6;
        let limits = Limits {
            file_bytes_max: size,
            file_bytes_per_owner_max: size,
            disk_free_bytes_min: 0,
            ..Limits::default()
        };
        let uploads = Uploads::new(store, Arc::new(limits));
        let begin = async |owner: &str| {
            let (owner, name) = (owner.to_owned(), "large".to_owned());
            let file = KeptFile { owner, sha256: String::new(), size, name, uploaded_ms: 0 };
            uploads.begin(uploads.place()?, file).await
        };
        let first = begin("alice").await.expect("there is room for one");
        assert_eq!(begin("bob").await.err(), Some(ApiError::StorageFull));
        let first = first.put(bytes::Bytes::from_static(b"a piece")).await.expect("it can be written");
        assert_eq!(lock(&uploads.coming).missing, u128::from(size) - 7, "the rest is to come");
        drop(first);
        assert_eq!(lock(&uploads.coming).missing, 0);
        begin("bob").await.expect("there is room again");
    }
}
