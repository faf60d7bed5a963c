//! Traffic of programs' own stacks: quinn, and shared libraries.

use super::trace;
use super::traffic::TrafficTable;
use crate::keys::below;
use crate::model::{Download, Ecn, Library, Stack, UDP_HEADER, has_quinn, load_stack};
use crate::reader::Reader;
use crate::tables::traffic::KindName;
use aqm::params::Field as _;
use aqm::unit::Bytes;
use std::path::Path;
use std::sync::Arc;

/// The download of an entry.
pub(super) fn download(table: &TrafficTable, content: &Arc<[u8]>) -> Download {
    let stack = if table.kind == KindName::Quic {
        Stack::Quinn(table.congestion)
    } else {
        let (file, options) = (table.file.clone(), table.options.clone());
        Stack::Library(Arc::new(Library {
            file: file.unwrap_or_default(),
            content: content.clone(),
            options: options.unwrap_or_default(),
        }))
    };
    Download { stack, size: table.size }
}

/// Loads the library of a stack; returns the content of its file.
pub(super) fn load(file: &Path) -> Result<Arc<[u8]>, String> {
    let content = trace::bytes(file, "strip it")?;
    load_stack(file, &content)?;
    Ok(content.into())
}

/// Records why the stack of QUIC cannot send the packets of an entry.
pub(super) fn quic(table: &TrafficTable, path: &str, reader: &mut Reader<'_>) {
    let least = Bytes(Download::LEAST_PAYLOAD + UDP_HEADER as u64);
    let kind = Some("\"quic\"".to_owned());
    if !has_quinn() {
        let cure =
            "this build has no QUIC stack; build the extension with it: cargo build -p py --features quic";
        reader.refuse(&below(path, "kind"), kind, cure);
    }
    let at = below(path, "packet_size");
    if let Some(size) = table.packet_size.filter(|size| *size < least)
        && reader.fine(&[&at])
    {
        let (least, payload) = (least.value(), Download::LEAST_PAYLOAD);
        let message = format!("must be at least {least}, because QUIC's path carries {payload} B of payload");
        reader.refuse(&at, Some(size.value().to_string()), message);
    }
    let at = below(path, "ecn");
    if table.ecn == Ecn::Ect1 && reader.fine(&[&at]) {
        reader.refuse(
            &at,
            Some("\"ect1\"".to_owned()),
            "the stack of QUIC sends ECT(0): \"ect0\" or \"none\"",
        );
    }
}
