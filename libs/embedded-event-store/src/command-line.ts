import { parseArgs } from 'node:util';

export const USAGE = `Embedded event store: a single-node store for a laptop, a demo, tests and CI that speaks
EventStoreDB's gRPC protocol. It has no replication.

Usage: embedded-event-store [serve] --data DIR [options]
       embedded-event-store verify --data DIR [--json]

serve (the default command):
  --data DIR           data folder; created if missing (required)
  --port N             TCP port; 0 lets the system choose one (default 2113)
  --host ADDRESS       address to listen on (default 127.0.0.1)
  --commit-timeout N   milliseconds after which an unfinished write is reported as timed out (default 2000)
  --tls-cert FILE      certificate in PEM; with --tls-key, the server accepts TLS only
  --tls-key FILE       private key of the certificate, in PEM
  --user-file FILE     require a login; the file holds one line, name:password
                       (or set EVENT_STORE_USER; there is no such option, because others can read arguments)
  --exit-with-parent   stop when standard input closes, so that no process is left running
  --help               print this text

When the server is ready, it prints one line of JSON on standard output:
  {"event":"listening","host":"127.0.0.1","port":2113,"pid":12345}
On SIGTERM or SIGINT it makes accepted appends durable and exits with status 0.

verify    checks every record's checksum, the index and the heads. Works while a server runs. Status 1 on findings.
Results go to standard output (--json: as one JSON object), problems to standard error.

Examples:
  embedded-event-store --data ./data --port 2113
  embedded-event-store verify --data ./data --json
  EVENT_STORE_USER=admin:changeit embedded-event-store --data ./data --tls-cert node.crt --tls-key node.key
`;

export interface ServeCommand {
  readonly kind: 'serve';
  readonly data: string;
  readonly port: number;
  readonly host: string;
  /** Milliseconds. */
  readonly commitTimeoutMs: number | undefined;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly userFile: string | undefined;
  readonly exitWithParent: boolean;
}

export interface VerifyCommand {
  readonly kind: 'verify';
  readonly data: string;
  readonly json: boolean;
}

interface Invalid {
  readonly kind: 'invalid';
  readonly problem: string;
}

export type CommandLine = ServeCommand | VerifyCommand | { readonly kind: 'help' } | Invalid;

const DEFAULT_PORT = '2113';

const SERVE_OPTIONS = {
  data: { type: 'string' },
  port: { type: 'string', default: DEFAULT_PORT },
  host: { type: 'string', default: '127.0.0.1' },
  'commit-timeout': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'user-file': { type: 'string' },
  'exit-with-parent': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const VERIFY_OPTIONS = {
  data: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const invalid = (problem: string): Invalid => ({ kind: 'invalid', problem });
const NO_DATA = invalid('--data is required.');

const parseServe = (args: string[]): CommandLine => {
  const { values } = parseArgs({ args, options: SERVE_OPTIONS });
  if (values.help) return { kind: 'help' };
  if (values.data === undefined) return NO_DATA;
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : NaN;
  if (!(port <= 65_535)) return invalid(`--port ${values.port} is not a port (0 to 65535).`);
  const timeout = values['commit-timeout'];
  if (timeout !== undefined && !/^[1-9]\d{0,5}$/.test(timeout)) {
    return invalid(`--commit-timeout ${timeout} is not a number of milliseconds (1 to 999999).`);
  }
  const certFile = values['tls-cert'];
  const keyFile = values['tls-key'];
  if ((certFile === undefined) !== (keyFile === undefined)) {
    return invalid('--tls-cert and --tls-key must be given together.');
  }
  return {
    kind: 'serve',
    data: values.data,
    port,
    host: values.host,
    commitTimeoutMs: timeout === undefined ? undefined : Number(timeout),
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    userFile: values['user-file'],
    exitWithParent: values['exit-with-parent'],
  };
};

const parseVerify = (args: string[]): CommandLine => {
  const { data, json, help } = parseArgs({ args, options: VERIFY_OPTIONS }).values;
  if (help) return { kind: 'help' };
  return data === undefined ? NO_DATA : { kind: 'verify', data, json };
};

export const parseArguments = (args: readonly string[]): CommandLine => {
  const [first = '', ...rest] = args;
  try {
    if (first === 'verify') return parseVerify(rest);
    return parseServe(first === 'serve' ? rest : [...args]);
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
};
