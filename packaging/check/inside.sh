# Runs in the bare root, as root (packaging/check_debs).
set -euo pipefail
cd /root/check
export DEBIAN_FRONTEND=noninteractive PYTHONWARNINGS=error::SyntaxWarning
apt=(apt-get -qq -o Dpkg::Use-Pty=0 --no-install-recommends)
packages=(libhyphos0 libhyphos-dev hyphos-gateways hyphos-tools hyphos-view python3-hyphos)

step() { echo "── $*"; }

# Dependencies come first, so that the files before and after differ by Hyphos alone.
step "dependencies"
"${apt[@]}" update
mapfile -t needed < <(for file in ./*.deb; do dpkg-deb -f "$file" Depends; done | tr ',|' '\n\n' |
  sed 's/ *(.*//; s/^ *//' | grep -v hyphos | sort -u)
"${apt[@]}" install "${needed[@]}" cmake g++ make pkg-config python3-pytest man-db bash-completion \
  zsh fish >/dev/null
"${apt[@]}" install "${needed[@]}" >/dev/null
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp \
    -o -path /root/check -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \
    -o -path '/var/lib/dpkg/*-old' \) -prune -o -print | sort
}
files >/tmp/before

step "apt install ./*.deb"
"${apt[@]}" install ./*.deb >/dev/null
[[ $(dpkg-query -W -f '${db:Status-Status}\n' "${packages[@]}" | sort -u) == installed ]]

step "hyphos"
version=$(dpkg-query -W -f '${Version}' hyphos-tools)
[[ $(hyphos --version) == "hyphos ${version%-*}" ]]
hyphos doctor
python3 -c 'import hyphos; from hyphos.msgs import String; print(String(data="hello"))'
hyphos plan --help >/dev/null
hyphos cosim methods
hyphos lab list >/dev/null
step "hyphos demo"
timeout 120 hyphos demo
step "hyphos view"
hyphos view hyphos-demo/patrol.mcap --at 5 --png /tmp/view.png
[[ $(head -c 4 /tmp/view.png | tail -c 3) == PNG ]]
hyphos-view hyphos-demo/patrol.mcap --at 5 --png /tmp/again.png --compare /tmp/view.png
step "programs"
hyphos-host --help >/dev/null
hyphos-link --help >/dev/null
: >/tmp/types.pb  # only the standard messages, because the types of ROS need rosbags
coproc gateway { exec hyphos-gateway ros_tcp --port 0 --types /tmp/types.pb; }
read -r -t 60 address <&"${gateway[0]}"
pid=$gateway_PID
kill -INT "$pid"
wait "$pid"
[[ $address == *:* ]]
# Output goes to a file first, because a program fails if `grep -q` closes its pipe.
python3 -m hyphos lab run latency --seconds 0.1 --repeats 1 --quiet -o /tmp/lab >/tmp/output
grep -q hyphos/shm /tmp/output

step "programs against libhyphos-dev"
cmake -S . -B /tmp/build -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build /tmp/build -j "$(nproc)" >/dev/null
for program in hello hello_pkg_config hello_c hello_c_pkg_config gateway gateway_pkg_config; do
  "/tmp/build/$program"
done
g++ -std=c++20 hello.cpp -o /tmp/hello $(pkg-config --cflags --libs hyphos hyphos_msgs)
/tmp/hello
cc plain.c -o /tmp/hello_c $(pkg-config --cflags --libs hyphos_c)
/tmp/hello_c

step "hyphos new"
(
  cd /tmp
  hyphos new rover >/tmp/output
  cd rover
  cmake -B build >/tmp/output
  cmake --build build >/tmp/output
  hyphos run robot.yaml --for 5
  python3 -m pytest -q
)

step "man pages"
for page in /usr/share/man/man1/hyphos*.1.gz; do
  problems=$(man --warnings -E UTF-8 -l "$page" 2>&1 >/tmp/page)
  [[ -z $problems ]] || { echo "$page: $problems"; exit 1; }
  grep -q NAME /tmp/page
done
man hyphos-host >/tmp/page
head -n 12 /tmp/page

step "completion"
bash -c '. /usr/share/bash-completion/bash_completion
  _completion_loader hyphos || [[ $? -eq 124 ]]
  COMP_WORDS=(hyphos to) COMP_CWORD=1
  _hyphos_completion hyphos
  [[ ${COMPREPLY[*]} == top ]]
  _completion_loader hyphos-view || [[ $? -eq 124 ]]
  COMP_WORDS=(hyphos-view --save) COMP_CWORD=1
  _hyphos_view
  [[ ${COMPREPLY[*]} == --save-layout ]]'
zsh -fc 'autoload -Uz compinit && compinit -D -u && [[ $_comps[hyphos] == _hyphos* ]]'
fish -c 'complete -C "hyphos to"' >/tmp/output
grep -q '^top' /tmp/output

step "apt purge"
rm -rf /tmp/view.png /tmp/again.png /tmp/build /tmp/lab /tmp/rover /tmp/hello* /tmp/page /tmp/output /tmp/types.pb
"${apt[@]}" purge "${packages[@]}" >/dev/null
files >/tmp/after
# fish keeps files of the user, which are not of the packages.
diff /tmp/before <(grep -v -E '^/root/\.(cache|config|local)' /tmp/after)
[[ -z $(ldconfig -p | grep hyphos) ]]
echo "nothing is left"
