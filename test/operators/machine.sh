# A machine of its own for the commands of the operators' pages, from `unshare --mount --net bash machine.sh`: what they write to /etc, /opt
# and /usr stays in it, and all ports are free. It has PostgreSQL with TLS at db.example.com, Redis, a simulated WhatsApp, the repository, and
# the archives of releases in $RELEASES.
# Then it reads commands from standard input.
set -e
checkout=$PWD
bindir=$(pg_config --bindir)
ip link set lo up
mount -t tmpfs tmpfs /mnt
for folder in etc opt usr; do
  mkdir /mnt/$folder /mnt/$folder.work
  mount -t overlay overlay -o lowerdir=/$folder,upperdir=/mnt/$folder,workdir=/mnt/$folder.work /$folder
done
echo '127.0.0.1 db.example.com' >> /etc/hosts
cp "$checkout"/test/operators/programs/* /usr/local/sbin
chmod 755 /usr/local/sbin/*
mkdir /mnt/home && cd /mnt/home

export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
git clone --quiet --bare "$checkout" /mnt/repository.git

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority 2> /dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout db.key -out db.csr -subj /CN=db 2> /dev/null
openssl x509 -req -in db.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out db.pem -days 2 \
  -extfile <(echo subjectAltName=DNS:db.example.com) 2> /dev/null
install -d -o postgres -m 700 /mnt/postgres && install -o postgres -m 600 db.key db.pem /mnt
export PGPASSWORD=superuser
echo $PGPASSWORD > /mnt/password
runuser -u postgres -- "$bindir/initdb" --pgdata /mnt/postgres --username postgres --auth scram-sha-256 --pwfile /mnt/password > /dev/null
runuser -u postgres -- "$bindir/pg_ctl" --pgdata /mnt/postgres --wait --silent --log /mnt/postgres/log \
  --options '-c ssl=on -c ssl_cert_file=/mnt/db.pem -c ssl_key_file=/mnt/db.key -c unix_socket_directories=' start
redis=$(command -v redis-server || ls "$checkout"/.cache/redis-*/usr/bin/redis-server)
libraries=$(find "$checkout"/.cache/redis-*/usr/lib -name "*.so*" -printf "%h:" 2> /dev/null || true)
LD_LIBRARY_PATH=$libraries "$redis" --save '' --maxmemory-policy noeviction > /dev/null &
WEBHOOK_URL=http://127.0.0.1:3000/webhooks/whatsapp WHATSAPP_APP_SECRET='text of WHATSAPP_APP_SECRET' PORT=4010 \
  SENT_DELAY_MS=0 DELIVERED_DELAY_MS=0 node "$checkout/packages/simulator/dist/main.js" > /dev/null &
# The number of business account 300000000000001 is as Meta leaves it: not registered, without templates and without webhooks.
until curl --silent --fail http://127.0.0.1:4010/livez > /dev/null; do sleep 0.1; done
business() {
  curl --silent --fail --show-error --request PUT --json "$2" "http://127.0.0.1:4010/simulator/$1?silent=true" > /dev/null
}
business business-accounts/300000000000001 '{"startsEmpty":true,"subscribed":false}'
business senders/400000000000001 \
  '{"wabaId":"300000000000001","displayPhoneNumber":"15550783881","status":"PENDING","registered":false}'
export CHECKOUT=$checkout EDITOR=edit SUDO_USER=ana BASE_URL=http://127.0.0.1:3000
exec bash -Es
