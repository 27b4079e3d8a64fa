//! Files that were uploaded, as clients see them.

use tailback_api::v1;

use super::timestamp;
use crate::domain::KeptFile;

pub(crate) fn file(KeptFile { owner, sha256, size, name, uploaded_ms }: KeptFile) -> v1::File {
    v1::File { sha256, size, name, owner, upload_time: Some(timestamp(uploaded_ms)) }
}
