# Made by ci/manual/make.py from --help. Do not edit.
# bash completion for kvconform: source it, or put it where bash-completion looks.
_kvconform() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  case $before in
    --device) words='host cuda none' ;;
    --until) words='dead silent differs same' ;;
    --again|--badge|--expect|--golden|--html|--json|--junit|--markdown|--out|--record|--repro-dir) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --filter|explain) words=$("${COMP_WORDS[0]}" list 2>/dev/null | awk '{print $1}') ;;
  esac
  if [ -z "$words" ]; then
    case ${COMP_WORDS[1]-} in
      run) words='-h --help --target --start --release --filter --strict --expect --fix-expect --json --junit --html --markdown --badge --server-version --repro-dir --seed --timeout-ms --budget-s --device --require --security --probe-ms --grace-ms --start-timeout-s --cache-gb --blend-start --blend-end' ;;
      testee) words='-h --help --release --filter --strict --expect --fix-expect --json --junit --html --markdown --badge --server-version --repro-dir --seed --timeout-ms --budget-s --golden' ;;
      list) words='-h --help --json --release' ;;
      explain) words='-h --help' ;;
      replay) words='-h --help --target --start --release --timeout-ms --probe-ms --repro-dir --timing --exact' ;;
      shrink) words='-h --help --target --start --release --timeout-ms --probe-ms --repro-dir --until --out --budget-s' ;;
      diff) words='-h --help --again --markdown' ;;
      watch) words='-h --help --listen --target --release --record --json --overdue-ms --budget-s --forward-only' ;;
      doctor) words='-h --help --target --release --quick --timeout-ms' ;;
      decode) words='-h --help --release' ;;
      *) words='run testee list explain replay shrink diff watch doctor decode --help --version' ;;
    esac
    [[ $word == -* || $COMP_CWORD -eq 1 ]] || { mapfile -t COMPREPLY < <(compgen -f -- "$word"); return; }
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _kvconform kvconform
