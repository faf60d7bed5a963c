# The first process of a shell's namespace of processes, all of which end with it:
# `sh shell.sh FOLDER COUNT SERVER… COMMAND…` starts COUNT servers at the peer, then the command.
folder=$1 count=$2
shift 2

# Sockets at the peer that wait for clients: of TCP those that listen, of UDP those without another end.
waiting() { peer sh -c 'cat /proc/net/tcp* /proc/net/udp* 2> /dev/null' | grep -c -e ' 0A ' -e ' 07 '; }

number=0
while [ "$number" -lt "$count" ]; do
    number=$((number + 1)) server=$1 before=$(waiting)
    shift
    {
        peer sh -c "$server" > "$folder/peer-$number.log" 2>&1
        echo "aqmlab: --peer $server: ended with status $?: $(tail -n 1 "$folder/peer-$number.log")" >&2
    } &
    tries=0
    while [ "$(waiting)" -le "$before" ] && kill -0 $! 2> /dev/null && [ "$tries" -lt 20 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
done
"$@"
