//! The allocator of the system, which keeps what is freed for whoever asks next: in an arena for each of its threads, and in larger pieces the
//! larger those were that it has seen. A server lives long, is asked for little most of the time, and shares its machine with workers. So
//! it is told to give back.
//!
//! Only the GNU C library is told. Others do what they do.

/// What is at least so large is asked of the system, and given back as soon as it is freed. Unless it is told, the library raises this to 32 MiB as it
/// sees such pieces.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 128 << 10;

/// From now on, large pieces are given back when they are freed.
pub(crate) fn give_back_large() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator, which locks its state meanwhile.
    let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES) };
}

/// Gives back all that is free, in whatever arena.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches only what nobody has, and locks each arena meanwhile.
    let _ = unsafe { libc::malloc_trim(0) };
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Bytes of memory that this process occupies.
    fn occupied() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("it is Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib << 10
    }

    #[test]
    fn what_is_free_is_given_back_though_something_behind_it_is_not() {
        let mut pieces: Vec<Vec<u8>> = (0..100_000).map(|_| vec![7; 1 << 10]).collect();
        let full = occupied();
        pieces.drain(..99_999);
        give_back();
        let left = occupied();
        // Other tests have something besides.
        assert!(left + (50 << 20) < full, "of {full} bytes {left} are left");
        assert_eq!(pieces[0][0], 7);
    }
}
