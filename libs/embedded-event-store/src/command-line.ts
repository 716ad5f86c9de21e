import { parseArgs } from 'node:util';

export const USAGE = `Embedded event store: a single-node store for a laptop, a demo, tests and CI that speaks
EventStoreDB's gRPC protocol. It has no authentication, no TLS and no replication.

Usage: node main.js --data DIR [options]

  --data DIR           folder of the data; created if missing (required)
  --port N             TCP port; 0 lets the system choose (default 2113)
  --host ADDRESS       address to listen on (default 127.0.0.1)
  --system-links       link events in $ce-<category>, $et-<type> and $streams
  --exit-with-parent   stop when standard input closes, so that no process is left behind
  --help               this text

When it serves, it prints one line of JSON on standard output:
  {"event":"listening","host":"127.0.0.1","port":2113,"pid":12345}
SIGTERM and SIGINT stop it after accepted appends are durable; the exit status is then 0.
`;

export type CommandLine =
  | {
      readonly kind: 'serve';
      readonly data: string;
      readonly port: number;
      readonly host: string;
      readonly systemLinks: boolean;
      readonly exitWithParent: boolean;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problem: string };

const DEFAULT_PORT = '2113';

export const parseArguments = (args: readonly string[]): CommandLine => {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        data: { type: 'string' },
        port: { type: 'string', default: DEFAULT_PORT },
        host: { type: 'string', default: '127.0.0.1' },
        'system-links': { type: 'boolean', default: false },
        'exit-with-parent': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return { kind: 'invalid', problem: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { kind: 'help' };
  if (values.data === undefined) return { kind: 'invalid', problem: '--data is required.' };
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : NaN;
  if (!(port <= 65_535))
    return { kind: 'invalid', problem: `--port ${values.port} is not a port (0 to 65535).` };
  return {
    kind: 'serve',
    data: values.data,
    port,
    host: values.host,
    systemLinks: values['system-links'],
    exitWithParent: values['exit-with-parent'],
  };
};
