# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of ossatura for bash: subcommands, options and their choices, read from --help. Packages install
# it; from the sources, in ~/.bashrc:
#   source <folder>/scripts/completion.bash

_ossatura() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} words=""
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  if ((COMP_CWORD == 1)); then
    words="--help --version $("$program" --help 2> /dev/null |
      sed -n '/^Subcommands:/,/^$/ s/^  \([a-z]*\) .*/\1/p')"
  elif [[ $current == -* ]]; then
    words=$("$program" "${COMP_WORDS[1]}" --help 2> /dev/null |
      sed -n 's/^  \(-[a-z],\)\{0,1\}\(--[a-z-]*\).*/\2/p')
  elif [[ $previous == --* ]]; then # its choices: --law threshold|linear|...
    words=$("$program" "${COMP_WORDS[1]}" --help 2> /dev/null |
      awk -v option="$previous" '$1 == option && $2 ~ /^[a-z0-9-]+(\|[a-z0-9-]+)+$/ {
        gsub(/\|/, " ", $2); print $2 }')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") # none: files
}
complete -o bashdefault -o default -F _ossatura ossatura
