#!/bin/sh
# The first program of an image of PostgreSQL: makes the database that the variables name, and runs it as the user dev.
set -eu
data=/var/lib/postgresql/data
as_dev() { su dev -c "export PATH=/usr/local/bin:/bin; $1"; }

mkdir -p "$data"
chown dev "$data"
if [ ! -s "$data/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  chown dev /tmp/password
  as_dev "initdb --pgdata $data --username $POSTGRES_USER --pwfile /tmp/password --auth scram-sha-256 --encoding UTF8 --no-locale"
  rm /tmp/password
  as_dev "echo 'CREATE DATABASE $POSTGRES_DB' | postgres --single -D $data postgres"
fi
exec su dev -c "exec /usr/local/bin/postgres -D $data -k /tmp"
