#compdef kvconform
# Made by ci/manual/make.py from --help. Do not edit.
_kvconform() {
  local -a commands
  commands=(
    'run:Judge a server'
    'testee:Judge a codec and registry in a program that answers on stdout'
    'list:List the cases'
    'explain:Say all about a case or a requirement'
    'replay:Send a replay files messages again'
    'shrink:Make a replay file as small as it can be while the server does what it did'
    'diff:Say what is new between two JSON reports'
    'watch:Stand between clients and a server, and say what is wrong'
    'doctor:Say what this machine and a server can do'
    'decode:Say what a frame or a message is'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
  run) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--target[Judge the server at this endpoint]:value:' \
    '--start[Start the server with this command, {port} in it; with neither --target nor --start the kvserver beside kvconform is judged]:value:' \
    '--release[Release of the protocol]:value:' \
    '--filter[Cases to run - patterns with * and ?, joined by  -, those after a - excluded]:value:' \
    '--strict[SHOULD rules count as MUST rules do]' \
    '--expect[File of expected failures]:file:_files' \
    '--fix-expect[Rewrite that file to what came]:value:' \
    '--json[Write a JSON report]:file:_files' \
    '--junit[Write a JUnit report]:file:_files' \
    '--html[Write a page for people]:file:_files' \
    '--markdown[Write a comment for a pull request]:file:_files' \
    '--badge[Write the JSON of a shields.io badge]:file:_files' \
    '--server-version[What you call the judged thing, for reports and diff - a commit, a release]:value:' \
    '--repro-dir[Where failures leave their frames and logs]:file:_files' \
    '--seed[Seed of all that is random in the cases]:value:' \
    '--timeout-ms[Wait so long for a reply that is due]:value:' \
    '--budget-s[End the run after so long; what is left is not run]:value:' \
    '--device[Device to play an engine on]:text:(host cuda none)' \
    '--require[Fail when the server lacks this capability or request type]:value:' \
    '--security[Also run the cases that try an exploit, harmlessly]' \
    '--probe-ms[A server that leaves NOOP so long is dead]:value:' \
    '--grace-ms[Wait so long after a fence for what must not come]:value:' \
    '--start-timeout-s[Wait so long for a server to start]:value:' \
    '--cache-gb[Size of the servers cache, where --l1-size-gb in --start does not say it]:value:' \
    '--blend-start[Token ids by which the servers blend paragraphs begin, 1,2,3; where --blend-start in --start does not say it]:value:' \
    '--blend-end[And by which they end]:value:' \
    '*:file:_files' ;;
  testee) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--release[Release of the protocol]:value:' \
    '--filter[Cases to run - patterns with * and ?, joined by  -, those after a - excluded]:value:' \
    '--strict[SHOULD rules count as MUST rules do]' \
    '--expect[File of expected failures]:file:_files' \
    '--fix-expect[Rewrite that file to what came]:value:' \
    '--json[Write a JSON report]:file:_files' \
    '--junit[Write a JUnit report]:file:_files' \
    '--html[Write a page for people]:file:_files' \
    '--markdown[Write a comment for a pull request]:file:_files' \
    '--badge[Write the JSON of a shields.io badge]:file:_files' \
    '--server-version[What you call the judged thing, for reports and diff - a commit, a release]:value:' \
    '--repro-dir[Where failures leave their frames and logs]:file:_files' \
    '--seed[Seed of all that is random in the cases]:value:' \
    '--timeout-ms[Wait so long for a reply that is due]:value:' \
    '--budget-s[End the run after so long; what is left is not run]:value:' \
    '--golden[Judge by the golden data in this folder, and not by that in kvconform]:file:_files' \
    '*:file:_files' ;;
  list) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--json[As JSON]' \
    '--release[Release of the protocol]:value:' \
    '*:file:_files' ;;
  explain) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '*:file:_files' ;;
  replay) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--target[Endpoint of the server]:value:' \
    '--start[Start the server with this command, {port} in it; with neither --target nor --start the kvserver beside kvconform is asked]:value:' \
    '--release[Release of the protocol]:value:' \
    '--timeout-ms[Wait so long for each recorded reply]:value:' \
    '--probe-ms[A server that leaves NOOP so long is dead]:value:' \
    '--repro-dir[Where a started server leaves its log]:file:_files' \
    '--timing[Send each message at its recorded time]' \
    '--exact[Fail too when a reply is not as recorded, or was not recorded]' \
    '*:file:_files' ;;
  shrink) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--target[Endpoint of the server]:value:' \
    '--start[Start the server with this command, {port} in it; with neither --target nor --start the kvserver beside kvconform is asked]:value:' \
    '--release[Release of the protocol]:value:' \
    '--timeout-ms[Wait so long for each recorded reply]:value:' \
    '--probe-ms[A server that leaves NOOP so long is dead]:value:' \
    '--repro-dir[Where a started server leaves its log]:file:_files' \
    '--until[What is to be seen - the server dead; a recorded reply missing (silent); one that differs, or was not recorded; the last one the same. Left out - what the files verdict stands for - DEAD dead, SILENT silent, WRONG same]:text:(dead silent differs same)' \
    '--out[Where frames.kvr and replay.py go]:file:_files' \
    '--budget-s[Give up after so long]:value:' \
    '*:file:_files' ;;
  diff) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--again[Another run of the new server - what passes in one and fails in another is flaky]:file:_files' \
    '--markdown[Write a comment for a pull request]:file:_files' \
    '*:file:_files' ;;
  watch) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--listen[Where clients connect; port * picks a free one]:value:' \
    '--target[The server]:value:' \
    '--release[Release of the protocol]:value:' \
    '--record[Write all messages to a .kvr file, for replay]:file:_files' \
    '--json[A JSON document a line - faults, notes, the summary]' \
    '--overdue-ms[A request that waits so long for its reply is told]:value:' \
    '--budget-s[End after so long]:value:' \
    '--forward-only[Pass on only, neither judge nor record - to measure what those cost]' \
    '*:file:_files' ;;
  doctor) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--target[Look at the server at this endpoint too]:value:' \
    '--release[Release of the protocol]:value:' \
    '--quick[Only whether the server answers NOOP - a health check]:value:' \
    '--timeout-ms[Wait so long for a reply]:value:' \
    '*:file:_files' ;;
  decode) _arguments \
    '-h[Print this help message and exit]' \
    '--help[Print this help message and exit]' \
    '--release[Release of the protocol]:value:' \
    '*:file:_files' ;;
  esac
}
_kvconform "$@"
