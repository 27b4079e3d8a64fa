//! Mail as bytes, in letters between ranks.
//!
//! There is a letter for each window, and its packets are most of it, so they are written as words of fixed places: to encode
//! them field by field took as long as a quarter of what the routers took.
//!
//! **The invariant it keeps:** what is read is what was written, on whatever machine.

use tailback_engine::{SnapshotError, read_value, write_value};
use tailback_protocol::PacketKind;
use tailback_routing::{Causes, Header};
use tailback_topology::Locator;

use crate::event::Event;
use crate::packet::Packet;
use crate::region::NetworkMail;

const WORD: usize = size_of::<u32>();

/// Words of a packet with its event, and of a credit with its tick and its event.
const PACKET_WORDS: usize = 18;
const CREDIT_WORDS: usize = 4;

/// Bytes of a packet in a letter to another rank.
pub const PACKET_LETTER_BYTES: u64 = (PACKET_WORDS * WORD) as u64;
/// Bytes of a credit in one.
pub const CREDIT_LETTER_BYTES: u64 = (CREDIT_WORDS * WORD) as u64;
/// Bytes that mail of one region for another takes there beside its packets and credits.
pub const MAIL_LETTER_BYTES: u64 = (3 * WORD + 1) as u64;

/// Appends mail to a letter: how many packets, words of payload and credits there are, these, and the rest.
pub(crate) fn write(mail: &NetworkMail, letter: &mut Vec<u8>) -> Result<(), SnapshotError> {
    let NetworkMail { packets, payloads, credits, out_of_band } = mail;
    let counts = [packets.len(), payloads.len(), credits.len()].map(|count| count as u32);
    write_words(letter, [counts].into_iter());
    write_words(letter, packets.iter().map(|(event, packet)| packet_words(*event, packet)));
    write_words(letter, payloads.iter().map(|&word| halves(word)));
    write_words(letter, credits.iter().map(|&(tick, event)| credit_words(tick, event)));
    write_value(out_of_band, letter)
}

/// Takes mail from the front of a letter.
pub(crate) fn read(mail: &mut NetworkMail, letter: &mut &[u8]) -> Result<(), SnapshotError> {
    let [packets, payloads, credits] = read_words::<3>(letter, 1)?.next().ok_or_else(cut_off)?;
    mail.packets.extend(read_words(letter, packets)?.map(packet));
    mail.payloads.extend(read_words(letter, payloads)?.map(whole));
    mail.credits.extend(read_words(letter, credits)?.map(|[tick, tick_high, event, event_high]| {
        (whole([tick, tick_high]), Event::of_word(whole([event, event_high])))
    }));
    mail.out_of_band = read_value(letter)?;
    Ok(())
}

fn packet_words(event: Event, packet: &Packet) -> [u32; PACKET_WORDS] {
    let Packet { created, injected, head_at, tail_lag, next, source, destination, message, .. } = *packet;
    let Packet { index_and_flags, header, flits, traffic, class, vc, vcs, hops, kind, marks, .. } = *packet;
    let Packet { about_flits, word, .. } = *packet;
    let [event, event_high] = halves(event.word());
    let Header { leg, nonminimal, entropy, .. } = header;
    let two = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let pair = |low: u8, high: u8| u16::from_le_bytes([low, high]);
    [
        event,
        event_high,
        created,
        injected,
        head_at,
        tail_lag,
        next,
        source,
        destination,
        message,
        index_and_flags,
        header.destination().0,
        header.via(),
        two(pair(leg, nonminimal.byte()), entropy),
        two(flits, traffic),
        u32::from_le_bytes([class, vc, vcs, hops]),
        two(pair(kind.index() as u8, marks), about_flits),
        word,
    ]
}

fn packet(words: [u32; PACKET_WORDS]) -> (Event, Packet) {
    let [event, event_high, created, injected, head_at, tail_lag, next, source, destination, message, ..] = words;
    let [.., index_and_flags, address, via, on_path, size, where_it_is, what_it_is, word] = words;
    let two = |word: u32| (word as u16, (word >> 16) as u16);
    let (path, entropy) = two(on_path);
    let [leg, nonminimal] = path.to_le_bytes();
    let mut header = Header::new(Locator(address)).by_way_of(via).with_entropy(entropy);
    (header.leg, header.nonminimal) = (leg, Causes::from_byte(nonminimal));
    let (flits, traffic) = two(size);
    let [class, vc, vcs, hops] = where_it_is.to_le_bytes();
    let (kind, about_flits) = two(what_it_is);
    let [kind, marks] = kind.to_le_bytes();
    let packet = Packet {
        created,
        injected,
        head_at,
        tail_lag,
        next,
        source,
        destination,
        message,
        index_and_flags,
        header,
        flits,
        traffic,
        class,
        vc,
        vcs,
        hops,
        kind: PacketKind::new(kind),
        marks,
        about_flits,
        word,
    };
    (Event::of_word(whole([event, event_high])), packet)
}

fn credit_words(tick: u64, event: Event) -> [u32; CREDIT_WORDS] {
    let ([tick, tick_high], [event, event_high]) = (halves(tick), halves(event.word()));
    [tick, tick_high, event, event_high]
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Appends some runs of words.
#[inline]
fn write_words<const N: usize>(letter: &mut Vec<u8>, runs: impl ExactSizeIterator<Item = [u32; N]>) {
    let start = letter.len();
    letter.resize(start + runs.len() * N * WORD, 0);
    for (place, words) in letter[start..].chunks_exact_mut(N * WORD).zip(runs) {
        for (place, word) in place.chunks_exact_mut(WORD).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// Takes so many runs of words.
#[inline]
fn read_words<'l, const N: usize>(
    letter: &mut &'l [u8],
    runs: u32,
) -> Result<impl ExactSizeIterator<Item = [u32; N]> + use<'l, N>, SnapshotError> {
    let length = (runs as usize).checked_mul(N * WORD);
    let (taken, rest) = length.and_then(|length| letter.split_at_checked(length)).ok_or_else(cut_off)?;
    *letter = rest;
    let word = |bytes: &[u8], place: usize| {
        let bytes = bytes[place * WORD..][..WORD].try_into().expect("a word has so many bytes");
        u32::from_le_bytes(bytes)
    };
    Ok(taken.chunks_exact(N * WORD).map(move |bytes| std::array::from_fn(|place| word(bytes, place))))
}

fn cut_off() -> SnapshotError {
    SnapshotError::Damaged("a letter is cut off".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mail() -> impl Strategy<Value = NetworkMail> {
        let words = prop::array::uniform18(any::<u32>()).prop_map(packet);
        let credit = (any::<u64>(), any::<u64>()).prop_map(|(tick, event)| (tick, Event::of_word(event)));
        let lists = (prop::collection::vec(words, 0..4), prop::collection::vec(any::<u64>(), 0..4));
        (lists, prop::collection::vec(credit, 0..4)).prop_map(|((packets, payloads), credits)| NetworkMail {
            packets,
            payloads,
            credits,
            out_of_band: Vec::new(),
        })
    }

    #[test]
    fn mail_takes_what_is_in_it_and_a_little_more() {
        let mut letter = Vec::new();
        write(&NetworkMail::default(), &mut letter).expect("there is room");
        assert_eq!(letter.len() as u64, MAIL_LETTER_BYTES);
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(one in mail(), other in mail(), cut in 1usize..200) {
            let mut letter = Vec::new();
            write(&one, &mut letter).expect("there is room");
            let first = letter.len();
            write(&other, &mut letter).expect("there is room");
            let mut left = letter.as_slice();
            for expected in [&one, &other] {
                let mut found = NetworkMail::default();
                read(&mut found, &mut left).expect("it is whole");
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            }
            prop_assert!(left.is_empty());
            let mut short = &letter[..first - cut.min(first)];
            prop_assert!(read(&mut NetworkMail::default(), &mut short).is_err());
        }
    }
}
