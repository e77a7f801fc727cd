//! What can be told about a plugin's file before it is opened.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use object::elf;

use super::LoadError;
use crate::name::PluginDir;

/// Tells files apart whatever they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// Checks that `path` is a shared object of this machine, and in `dir`, if that is given, links followed.
pub(super) fn examine(path: &Path, dir: Option<&PluginDir>) -> Result<FileId, LoadError> {
    let metadata = std::fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => not_found(path, dir),
        _ => unreadable(path, source),
    })?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile {
            path: path.to_owned(),
            found: describe(metadata.file_type()),
        });
    }
    if let Some(dir) = dir {
        inside(path, dir.path())?;
    }
    elf_header(path)?;
    Ok(id(&metadata))
}

fn not_found(path: &Path, dir: Option<&PluginDir>) -> LoadError {
    let beside = dir.cloned().or_else(|| path.parent().map(PluginDir::new));
    let found = beside.map(|dir| dir.list()).unwrap_or_default();
    LoadError::NotFound {
        path: path.to_owned(),
        found,
    }
}

fn unreadable(path: &Path, source: io::Error) -> LoadError {
    LoadError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

fn id(metadata: &Metadata) -> FileId {
    FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// A link may lead anywhere in the directory, as in a mounted volume, but not out of it.
fn inside(path: &Path, dir: &Path) -> Result<(), LoadError> {
    let target = path.canonicalize().map_err(|source| unreadable(path, source))?;
    let dir = dir.canonicalize().map_err(|source| unreadable(path, source))?;
    if target.starts_with(&dir) {
        return Ok(());
    }
    Err(LoadError::LinkOutside {
        path: path.to_owned(),
        target,
        dir,
    })
}

/// Length of what all ELF headers have in common: identification, type, machine.
const COMMON: usize = 20;

fn elf_header(path: &Path) -> Result<(), LoadError> {
    let mut header = Vec::with_capacity(COMMON);
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    file.take(COMMON as u64)
        .read_to_end(&mut header)
        .map_err(|source| unreadable(path, source))?;
    if header.len() < COMMON || header[..4] != elf::ELFMAG {
        return Err(LoadError::NotElf {
            path: path.to_owned(),
            found: beginning(&header),
        });
    }
    let little = header[5] == elf::ELFDATA2LSB;
    let word = |at: usize| {
        let bytes = [header[at], header[at + 1]];
        if little {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        }
    };
    let found = machine(word(18), header[4], little);
    let expected = machine(EXPECTED_MACHINE, elf::ELFCLASS64, cfg!(target_endian = "little"));
    if found != expected {
        return Err(LoadError::WrongArchitecture {
            path: path.to_owned(),
            found,
            expected,
        });
    }
    match word(16) {
        elf::ET_DYN => Ok(()),
        other => Err(LoadError::NotShared {
            path: path.to_owned(),
            found: elf_type(other),
        }),
    }
}

/// The machine this operator is built for.
const EXPECTED_MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    elf::EM_X86_64
} else if cfg!(target_arch = "aarch64") {
    elf::EM_AARCH64
} else if cfg!(target_arch = "s390x") {
    elf::EM_S390
} else if cfg!(target_arch = "powerpc64") {
    elf::EM_PPC64
} else {
    elf::EM_RISCV
};

fn machine(number: u16, class: u8, little: bool) -> String {
    let name = match number {
        elf::EM_X86_64 => "x86_64",
        elf::EM_386 => "i386",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_ARM => "arm",
        elf::EM_S390 => "s390x",
        elf::EM_PPC64 => "ppc64",
        elf::EM_RISCV => "riscv",
        other => return format!("machine {other}"),
    };
    let bits = if class == elf::ELFCLASS64 { "" } else { ", 32 bits" };
    let order = if little { "" } else { ", big-endian" };
    format!("{name}{bits}{order}")
}

fn elf_type(number: u16) -> String {
    match number {
        elf::ET_EXEC => "executable".to_owned(),
        elf::ET_REL => "object file (.o)".to_owned(),
        elf::ET_CORE => "core dump".to_owned(),
        other => format!("{other}"),
    }
}

fn beginning(header: &[u8]) -> String {
    if header.is_empty() {
        return "nothing (the file is empty)".to_owned();
    }
    let shown = &header[..header.len().min(8)];
    format!("\"{}\"", shown.escape_ascii())
}

/// Whether the file was built by Go, as plugins of the Go operator are.
pub(super) fn is_go(path: &Path) -> bool {
    use object::{Object as _, ObjectSection as _};
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    object::File::parse(&*bytes).is_ok_and(|file| {
        file.sections()
            .any(|section| section.name() == Ok(".go.buildinfo"))
    })
}
