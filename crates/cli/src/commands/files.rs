//! `tailback files`: what was uploaded to a server.

use serde::Serialize;
use tailback_api::v1::{File, ListFilesRequest};
use tailback_report::{Cell, Column, Kind, Table};

use crate::arguments::{FilesArguments, Format};
use crate::complaint::Complaint;
use crate::output::{say, say_line};
use crate::remote::{self, Remote};

/// A file as `--format json` prints it.
#[derive(Serialize)]
struct ShownFile {
    sha256: String,
    size: u64,
    name: String,
    owner: String,
    uploaded: String,
}

/// Runs the command.
pub fn run(arguments: &FilesArguments) -> Result<(), Complaint> {
    remote::carry_out(async {
        let mut remote = Remote::connect(&arguments.server).await?;
        remote.must_know("files").await?;
        for sha256 in &arguments.delete {
            remote.delete_file(sha256).await?;
            say_line!("{sha256} deleted");
        }
        if arguments.delete.is_empty() {
            show(remote.list_files(ListFilesRequest::default()).await?, arguments.format);
        }
        Ok(())
    })
}

fn show(files: Vec<File>, format: Format) {
    let shown = files.into_iter().map(|file| ShownFile {
        sha256: file.sha256,
        size: file.size,
        name: file.name,
        owner: file.owner,
        uploaded: file.upload_time.map_or_else(String::new, |time| time.to_string()),
    });
    match format {
        Format::Text => say!("{}", table(shown).to_text()),
        Format::Json => {
            let shown: Vec<ShownFile> = shown.collect();
            say_line!("{}", serde_json::to_string_pretty(&shown).expect("plain data"));
        }
    }
}

fn table(files: impl Iterator<Item = ShownFile>) -> Table {
    let columns =
        [Column::text("sha256"), Column::new("bytes", Kind::Integer), Column::text("name"), Column::text("owner")];
    let mut table = Table::new(columns.into());
    for file in files {
        table.push(vec![
            file.sha256.as_str().into(),
            Cell::from(file.size),
            file.name.as_str().into(),
            file.owner.as_str().into(),
        ]);
    }
    table
}
