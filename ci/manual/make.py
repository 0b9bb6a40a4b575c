#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Manual pages and shell completions, made from what the commands say of themselves.

  make.py BIN FOLDER           writes kvconform.1, kvserver.1, kvconform.bash, kvconform.zsh, kvconform.fish
  make.py BIN FOLDER --check   changes nothing; fails, and names the file, where one is not up to date

BIN is the folder with kvconform and kvserver in it. The one source is `--help`: an option that is not
there is in no page.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

SECTION_START = re.compile(r"^(Options|Subcommands|Positionals):$")
ENTRY = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")


@dataclasses.dataclass
class Entry:
    """An option, positional or subcommand: how it is written, and what it is for."""

    spec: str
    text: str = ""

    @property
    def names(self):
        return self.spec.split(" ")[0].split("=")[0].split(",")

    @property
    def value(self):
        """FILE, GLOB …; empty for a flag."""
        found = re.match(r"\S+ ([A-Z]+|INT|TEXT)", self.spec)
        return found[1] if found else ""

    @property
    def choices(self):
        found = re.search(r"\{([^{}]+)\}", self.spec)
        return found[1].split(",") if found and found[1] != "port" else []


@dataclasses.dataclass
class Help:
    description: list
    usage: str
    sections: dict
    footer: list


def help_of(program, name, subcommand=None):
    words = [name] + ([subcommand] if subcommand else []) + ["--help"]
    done = subprocess.run(words, executable=program, check=True, capture_output=True, text=True)
    return parsed(done.stdout)


def parsed(text):
    out = Help([], "", {}, [])
    section = None
    entry = None
    for line in text.splitlines():
        if SECTION_START.match(line):
            section = out.sections.setdefault(line[:-1], [])
            entry = None
        elif line.startswith("Usage: "):
            out.usage = line[len("Usage: ") :]
        elif section is None:
            out.description.append(line)
        elif line.startswith("   ") and entry and not out.footer:
            entry.text = (entry.text + " " + line.strip()).strip()
        elif (match := ENTRY.match(line)) and not out.footer:
            entry = Entry(match[1], match[2] or "")
            section.append(entry)
        elif line.strip() or out.footer:
            out.footer.append(line)
    while out.footer and not out.footer[-1].strip():
        out.footer.pop()
    return out


# ---- roff ----


def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def clean_spec(spec):
    """--timeout-ms INT:POSITIVE=5000 → --timeout-ms INT (default 5000), without CLI11's notes."""
    spec = re.sub(r" (Excludes|Needs): .*", "", spec)
    default = re.search(r"=(\S+)$", spec)
    if default:
        spec = spec[: default.start()]
    spec = re.sub(r":(POSITIVE|NONNEGATIVE|DIR|UINT|FLOAT)\b", "", spec)
    spec = re.sub(r" in \[(\S+) - (\S+)\]", r" (\1 to \2)", spec)
    return spec + (f" (default: {default[1]})" if default else "")


def roff_paragraphs(lines):
    out = []
    for line in lines:
        if not line.strip():
            out.append(".PP")
        elif line.startswith("  "):
            out += [".nf", roff(line), ".fi"]
        else:
            out.append(roff(line))
    return [line for i, line in enumerate(out) if not (line == ".fi" and out[i + 1 : i + 2] == [".nf"])
            and not (line == ".nf" and out[i - 1 : i] == [".fi"])]  # fmt: skip


def roff_entries(entries):
    out = []
    for entry in entries:
        out += [".TP", f"\\fB{roff(clean_spec(entry.spec))}\\fR", roff(entry.text or " ")]
    return out


def page(name, whole, subcommands):
    summary = whole.description[0].rstrip(".") if whole.description else name
    summary = re.sub(rf"^{name}:? ?", "", summary)
    out = [
        '.\\" Made by ci/manual/make.py from --help. Do not edit.',
        f'.TH {name.upper()} 1 "" "{name}" "User Commands"',
        ".SH NAME", f"{name} \\- {roff(summary)}",
        ".SH SYNOPSIS", f"\\fB{name}\\fR " + roff(whole.usage.split(" ", 1)[1]),
        ".SH DESCRIPTION", *roff_paragraphs(whole.description[1:] or whole.description),
    ]  # fmt: skip
    for title in ("Positionals", "Options"):
        if title in whole.sections:
            out += [f".SH {title.upper()}", *roff_entries(whole.sections[title])]
    if subcommands:
        out.append(".SH COMMANDS")
        for command, one in subcommands.items():
            out += [f".SS {name} {command}", roff(" ".join(one.description).strip())]
            for title in ("Positionals", "Options"):
                entries = [e for e in one.sections.get(title, []) if "--help" not in e.names]
                out += roff_entries(entries)
            if one.footer:
                out += [".PP", *roff_paragraphs(one.footer)]
    if whole.footer:
        out += [".SH NOTES", *roff_paragraphs(whole.footer)]
    return "\n".join(out) + "\n"


# ---- completion ----

FILES = {"FILE", "FOLDER"}


def options_of(one):
    return [e for e in one.sections.get("Options", []) if e.names[0].startswith("-")]


def bash_words(one):
    return " ".join(name for e in options_of(one) for name in e.names)


def bash(subcommands):
    cases = []
    for command, one in subcommands.items():
        cases.append(f"    {command}) words='{bash_words(one)}' ;;")
    choices = sorted(
        {(name, tuple(e.choices)) for one in subcommands.values() for e in options_of(one)
         for name in e.names if e.choices}
    )  # fmt: skip
    files = sorted(
        {name for one in subcommands.values() for e in options_of(one) for name in e.names
         if e.value in FILES}
    )  # fmt: skip
    choice_lines = [f"    {name}) words='{' '.join(values)}' ;;" for name, values in choices]
    return f"""# Made by ci/manual/make.py from --help. Do not edit.
# bash completion for kvconform: source it, or put it where bash-completion looks.
_kvconform() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  COMPREPLY=()
  case $before in
{chr(10).join(choice_lines)}
    {'|'.join(files)}) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --filter|explain) words=$("${{COMP_WORDS[0]}}" list 2>/dev/null | awk '{{print $1}}') ;;
  esac
  if [ -z "$words" ]; then
    case ${{COMP_WORDS[1]-}} in
{chr(10).join('  ' + line for line in cases)}
      *) words='{' '.join(subcommands)} --help --version' ;;
    esac
    [[ $word == -* || $COMP_CWORD -eq 1 ]] || {{ mapfile -t COMPREPLY < <(compgen -f -- "$word"); return; }}
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -F _kvconform kvconform
"""


def quoted(text):
    return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " -")


def zsh_option(entry, name):
    if entry.choices:
        return f"    '{name}[{quoted(entry.text)}]:{entry.value.lower()}:({' '.join(entry.choices)})'"
    if entry.value in FILES:
        return f"    '{name}[{quoted(entry.text)}]:file:_files'"
    if entry.value or " " in entry.spec.split(" Excludes")[0].split(" Needs")[0]:
        return f"    '{name}[{quoted(entry.text)}]:value:'"
    return f"    '{name}[{quoted(entry.text)}]'"


def zsh(subcommands, whole):
    texts = {e.spec: e.text for e in whole.sections["Subcommands"]}
    commands = "\n".join(f"    '{c}:{quoted(texts.get(c, ''))}'" for c in subcommands)
    blocks = []
    for command, one in subcommands.items():
        lines = [zsh_option(e, name) for e in options_of(one) for name in e.names]
        blocks.append(f"  {command}) _arguments \\\n" + " \\\n".join(lines) + " \\\n    '*:file:_files' ;;")
    return f"""#compdef kvconform
# Made by ci/manual/make.py from --help. Do not edit.
_kvconform() {{
  local -a commands
  commands=(
{commands}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{chr(10).join(blocks)}
  esac
}}
_kvconform "$@"
"""


def fish(subcommands, whole):
    texts = {e.spec: e.text for e in whole.sections["Subcommands"]}
    out = ["# Made by ci/manual/make.py from --help. Do not edit.", "complete -c kvconform -f"]
    for command, one in subcommands.items():
        text = quoted(texts.get(command, ""))
        out.append(f"complete -c kvconform -n __fish_use_subcommand -a {command} -d '{text}'")
        for entry in options_of(one):
            for name in entry.names:
                flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                value = ""
                if entry.choices:
                    value = f" -x -a '{' '.join(entry.choices)}'"
                elif entry.value in FILES:
                    value = " -r -F"
                elif entry.value:
                    value = " -x"
                out.append(
                    f"complete -c kvconform -n '__fish_seen_subcommand_from {command}' "
                    f"{flag}{value} -d '{quoted(entry.text)}'"
                )
    out.append(
        "complete -c kvconform -n '__fish_seen_subcommand_from explain' -x "
        "-a \"(kvconform list 2>/dev/null | awk '{print \\$1}')\""
    )
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    programs, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    whole = help_of(programs / "kvconform", "kvconform")
    subcommands = {
        entry.spec: help_of(programs / "kvconform", "kvconform", entry.spec)
        for entry in whole.sections["Subcommands"]
    }
    server = help_of(programs / "kvserver", "kvserver")
    files = {
        "kvconform.1": page("kvconform", whole, subcommands),
        "kvserver.1": page("kvserver", server, {}),
        "kvconform.bash": bash(subcommands),
        "kvconform.zsh": zsh(subcommands, whole),
        "kvconform.fish": fish(subcommands, whole),
    }
    stale = [n for n, text in files.items() if not (folder / n).exists() or (folder / n).read_text() != text]
    if sys.argv[3:] == ["--check"]:
        for name in stale:
            print(f"{folder / name}: not up to date; run ci/manual/make.py {sys.argv[1]} {folder}")
        sys.exit(1 if stale else 0)
    for name in stale:
        (folder / name).write_text(files[name])


if __name__ == "__main__":
    main()
