import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

const HEADER_BYTES = 12;
const TYPES = { 1: 'A', 28: 'AAAA' } as const;
const NO_SUCH_NAME = 3;
const POINTER_TO_NAME = 0xc0_0c;
const A_MINUTE = 60;

export interface Zone {
  /** Four bytes each. */
  readonly A?: readonly (readonly number[])[];
  /** Sixteen bytes each. */
  readonly AAAA?: readonly (readonly number[])[];
}

/** A name server on this machine (RFC 1035, over UDP). Names that it was not given do not exist. */
export class NameServer {
  /** Name and type of each question, in order. */
  readonly asked: string[] = [];
  private readonly held: (() => void)[] = [];

  private constructor(
    private readonly socket: Socket,
    private readonly zones: Readonly<Record<string, Zone>>,
    private readonly isHeld: (question: string) => boolean,
  ) {}

  /** @param isHeld queries (`name type`) that get no answer until `release` */
  static async start(
    zones: Readonly<Record<string, Zone>>,
    isHeld: (question: string) => boolean = () => false,
  ): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket, zones, isHeld);
    socket.on('message', (message, from) => server.answer(message, from));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  release(): void {
    for (const answer of this.held.splice(0)) answer();
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.socket.close(resolve));
  }

  private answer(message: Buffer, from: RemoteInfo): void {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = message[at]!; length > 0; length = message[at]!) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = TYPES[message.readUInt16BE(at + 1) as keyof typeof TYPES];
    const name = labels.join('.').toLowerCase();
    const question = `${name} ${type}`;
    this.asked.push(question);
    const zone = this.zones[name];
    const records = (zone?.[type] ?? []).map((address) => record(message.readUInt16BE(at + 1), address));
    const header = Buffer.from(message.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x81_80 | (zone ? 0 : NO_SUCH_NAME), 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answer = Buffer.concat([header, message.subarray(HEADER_BYTES, at + 5), ...records]);
    const send = (): void => this.socket.send(answer, from.port, from.address);
    if (this.isHeld(question)) this.held.push(send);
    else send();
  }
}

const record = (type: number, address: readonly number[]): Buffer => {
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(POINTER_TO_NAME, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(A_MINUTE, 6);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, Buffer.from(address)]);
};
