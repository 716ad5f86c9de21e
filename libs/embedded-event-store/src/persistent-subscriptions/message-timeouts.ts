import type { Consumer, Message } from './consumer.js';

/** Takes back messages that consumers do not answer in time. One timer, for the message with the earliest deadline. */
export class MessageTimeouts {
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param consumers the group's consumers now
   * @param expired receives the messages that were removed from those in flight
   */
  constructor(
    private readonly consumers: () => readonly Consumer[],
    private readonly expired: (messages: readonly Message[]) => void,
  ) {}

  /** Call after a message was sent to a consumer. */
  watch(): void {
    if (this.timer) return;
    const earliest = Math.min(...this.consumers().map(({ inFlight }) => firstDeadline(inFlight)));
    if (earliest === Infinity) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        this.expired(this.take(performance.now()));
        this.watch();
      },
      Math.max(earliest - performance.now(), 1),
    );
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private take(now: number): Message[] {
    const late: Message[] = [];
    for (const { inFlight } of this.consumers()) {
      for (const [id, { message, deadline }] of inFlight) {
        if (deadline > now) break;
        inFlight.delete(id);
        late.push(message);
      }
    }
    return late;
  }
}

const firstDeadline = (inFlight: Consumer['inFlight']): number => {
  for (const { deadline } of inFlight.values()) return deadline;
  return Infinity;
};
