# Sourced by scripts that take packages from a suite that this machine need not know: the mirror is the one that it names,
# and apt has a configuration of its own in the folder `apt`, so that the system's lists stay.
# usage: backports FOLDER SUITE    then: apt-cache "${apt[@]}" …, apt-get "${apt[@]}" download …
backports() {
  local uri keys=/usr/share/keyrings/debian-archive-keyring.gpg
  uri=$(apt-get indextargets --format '$(REPO_URI)' | grep --invert-match security | sed -n 1p)
  if [ -z "$uri" ]; then
    echo "apt knows no Debian mirror here: add one to /etc/apt/sources.list and call apt update" >&2
    return 1
  fi
  mkdir -p "$1"/lists/partial "$1"/cache/archives/partial "$1"/etc/preferences.d
  echo "deb [signed-by=$keys] $uri $2 main" > "$1/etc/sources.list"
  apt=(
    -o "Dir::Etc::SourceList=$1/etc/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::Etc::PreferencesParts=$1/etc/preferences.d" -o "Dir::State::Lists=$1/lists"
    -o "Dir::Cache=$1/cache" -o APT::Sandbox::User=root
  )
  apt-get "${apt[@]}" update -qq
}

# Says which of the given pairs COMMAND-OR-FILE:PACKAGE are missing, and fails if any is.
needs() {
  local pair what missing=
  for pair in "$@"; do
    what=${pair%:*}
    command -v "$what" >/dev/null || [ -e "$what" ] || missing="$missing ${pair#*:}"
  done
  [ -z "$missing" ] || { echo "missing:$missing (Debian: apt install$missing)" >&2; return 1; }
}
