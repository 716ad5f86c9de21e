import type { CommitSignal } from '../subscriptions/commit-signal.js';
import { Checkpointer } from './checkpointer.js';
import { chooseConsumer, takeInFlight, type Consumer, type Message } from './consumer.js';
import { MessageTimeouts } from './message-timeouts.js';
import type { ParkedMessages } from './parked-messages.js';
import { ALL, isPinning, type GroupRecord } from './settings.js';
import { pinningKey } from './pinning-key.js';
import type { Source } from './source.js';
import type { ResolvedRecord } from '../reads/resolve-link.js';

/** What a consumer asks for with an event that it could not process. */
export type NackAction = 'retry' | 'park' | 'skip';

export interface GroupParts {
  readonly source: Source;
  readonly parked: ParkedMessages;
  readonly signal: CommitSignal;
  /** Makes the group's record durable. */
  readonly save: (record: GroupRecord) => Promise<void>;
  readonly report: (message: string) => void;
  /** The error that ends a consumer's call. */
  readonly dropped: () => Error;
}

const bySequence = (a: Message, b: Message): number => a.sequence - b.sequence;

/**
 * A persistent subscription: reads its source once, gives each event to one consumer, again if that one does not
 * answer, and parks what is not processed after all retries. Its checkpoint is the first event not processed yet,
 * so an event is delivered at least once. It reads only while consumers have room: nothing piles up in memory.
 */
export class Group {
  private consumers: Consumer[] = [];
  /** To be given out, in order of sequence. */
  private readonly waiting: Message[] = [];
  /** Read and not processed yet, in order of reading; the first one is the checkpoint. */
  private readonly unprocessed = new Set<Message>();
  private readonly replaying = new Map<bigint, Message>();
  private next: bigint;
  private nextSequence = 0;
  private replayedTo = -1n;
  private delivered = 0;
  private closed = false;
  private pumping = false;
  private pumpAgain = false;
  private withdrawWake = (): void => undefined;

  private readonly checkpoints: Checkpointer;
  private readonly timeouts = new MessageTimeouts(
    () => this.consumers,
    (messages) => {
      for (const message of messages) this.retry(message);
      this.pump();
    },
  );

  constructor(
    record: GroupRecord,
    private readonly parts: GroupParts,
  ) {
    this.next = record.checkpoint ?? record.startAt;
    const { save, report } = parts;
    this.checkpoints = new Checkpointer(record, { reached: () => this.firstUnprocessed(), save, report });
  }

  get record(): GroupRecord {
    return this.checkpoints.record;
  }

  get connected(): readonly Consumer[] {
    return this.consumers;
  }

  get counts() {
    const inFlight = this.consumers.reduce((sum, consumer) => sum + consumer.inFlight.size, 0);
    const retrying = this.waiting.filter(({ retries }) => retries > 0).length;
    return {
      delivered: this.delivered,
      inFlight,
      retrying,
      buffered: this.waiting.length - retrying,
      parked: this.parts.parked.count(),
      lastKnown: this.parts.source.last(),
    };
  }

  get isFull(): boolean {
    const { maxSubscriberCount } = this.record.settings;
    return maxSubscriberCount > 0 && this.consumers.length >= maxSubscriberCount;
  }

  /** Drops the consumer at once when the group is closed, as during an update: it joins the new one. */
  connect(consumer: Consumer): void {
    if (this.closed) return consumer.drop(this.parts.dropped());
    this.consumers.push(consumer);
    this.pump();
  }

  /** What the consumer has not answered for goes to others. */
  disconnect(consumer: Consumer): void {
    if (!this.consumers.includes(consumer)) return;
    this.consumers = this.consumers.filter((other) => other !== consumer);
    for (const { message } of consumer.inFlight.values()) this.again(message);
    consumer.inFlight.clear();
    this.pump();
  }

  ack(consumer: Consumer, ids: readonly string[]): void {
    for (const message of takeInFlight(consumer, ids)) this.finish(message);
    this.pump();
  }

  nack(consumer: Consumer, ids: readonly string[], action: NackAction, reason: string): void {
    for (const message of takeInFlight(consumer, ids)) {
      if (action === 'skip') this.finish(message);
      else if (action === 'park') this.park(message, `Client explicitly NAK'ed message.\n${reason}`);
      else this.retry(message);
    }
    this.pump();
  }

  /** Gives parked messages out again, up to a revision of the parked stream (exclusive) if one is given. */
  replayParked(stopAt: bigint | undefined): void {
    const { readBatchSize } = this.record.settings;
    for (;;) {
      const page = this.parts.parked.read(this.replayedTo + 1n, readBatchSize);
      for (const { parkedAt, ...resolved } of page) {
        if (stopAt !== undefined && parkedAt >= stopAt) return this.pump();
        this.replayedTo = parkedAt;
        const message = this.message(resolved, { parkedAt });
        this.replaying.set(parkedAt, message);
        this.enqueue(message);
      }
      if (page.length === 0) return this.pump();
    }
  }

  /** Ends the consumers' calls. The group is not used any more. A later one goes on from the last checkpoint. */
  async close(): Promise<void> {
    this.closed = true;
    this.withdrawWake();
    this.timeouts.stop();
    for (const consumer of this.consumers) consumer.drop(this.parts.dropped());
    this.consumers = [];
    await this.checkpoints.stop();
  }

  private firstUnprocessed(): bigint {
    const [first] = this.unprocessed;
    return first?.place ?? this.next;
  }

  private message(resolved: ResolvedRecord, at: { place?: bigint; parkedAt?: bigint }): Message {
    const own = resolved.link ?? resolved.event;
    const { event, link } = resolved;
    return {
      event,
      link,
      sequence: this.nextSequence++,
      id: own?.id ?? '',
      pinnedBy: pinningKey(this.record.settings.strategy, event ?? link),
      place: at.place,
      parkedAt: at.parkedAt,
      retries: 0,
    };
  }

  private enqueue(message: Message): void {
    this.waiting.push(message);
    this.waiting.sort(bySequence);
  }

  /** Gives out what it can, at once. A call during another one makes that one go on. */
  private pump(): void {
    this.pumpAgain = true;
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (this.pumpAgain && !this.closed) {
        this.pumpAgain = false;
        this.dispatch();
        const found = this.fill();
        if (found === 'events') this.pumpAgain = true;
        else if (found === 'none yet') this.pumpLater();
      }
    } finally {
      this.pumping = false;
    }
  }

  /** In a turn of its own: not within a commit, and not the whole log in one turn. */
  private pumpLater(): void {
    setImmediate(() => this.pump());
  }

  private dispatch(): void {
    const { strategy } = this.record.settings;
    for (let index = 0; index < this.waiting.length;) {
      const message = this.waiting[index];
      const consumer = message && chooseConsumer(strategy, this.consumers, message);
      if (!message || !consumer) {
        // Without pinning, no event overtakes another.
        if (!isPinning(strategy) || this.consumers.every(({ inFlight, slots }) => inFlight.size >= slots))
          return;
        index++;
        continue;
      }
      this.waiting.splice(index, 1);
      this.send(consumer, message);
    }
  }

  private send(consumer: Consumer, message: Message): void {
    const { strategy, messageTimeoutMs } = this.record.settings;
    const deadline = messageTimeoutMs > 0 ? performance.now() + messageTimeoutMs : Infinity;
    consumer.inFlight.set(message.id, { message, deadline });
    consumer.total++;
    this.delivered++;
    consumer.times?.begun(message.id);
    const full = consumer.inFlight.size >= consumer.slots;
    if (strategy === 'RoundRobin' || (strategy === 'DispatchToSingle' && full)) {
      this.consumers = [...this.consumers.filter((other) => other !== consumer), consumer];
    }
    consumer.deliver(message);
    this.timeouts.watch();
  }

  /** Reads on when there is room. `none yet`: what was read is not for this group, and there is more. */
  private fill(): 'events' | 'none yet' | 'nothing' {
    const { readBatchSize, historyBufferSize, strategy } = this.record.settings;
    const room = Math.min(readBatchSize, historyBufferSize - this.waiting.length);
    if (this.consumers.length === 0 || room <= 0) return 'nothing';
    // With pinning, one full consumer must not keep the others from their events.
    if (!isPinning(strategy) && this.waiting.length >= readBatchSize) return 'nothing';
    const { events, next, atEnd } = this.parts.source.read(this.next, room);
    for (const { place, ...resolved } of events) {
      const message = this.message(resolved, { place });
      this.waiting.push(message);
      this.unprocessed.add(message);
    }
    this.next = next;
    if (atEnd) this.wakeOnCommit();
    if (events.length > 0) return 'events';
    return atEnd ? 'nothing' : 'none yet';
  }

  private wakeOnCommit(): void {
    this.withdrawWake();
    const { source } = this.record;
    this.withdrawWake = this.parts.signal.once(source === ALL ? undefined : source, () => this.pumpLater());
  }

  private retry(message: Message): void {
    const { maxRetryCount } = this.record.settings;
    if (message.retries < maxRetryCount) this.again(message);
    else this.park(message, `Reached retry count of ${String(maxRetryCount)}`);
  }

  private again(message: Message): void {
    message.retries++;
    this.enqueue(message);
  }

  private park(message: Message, reason: string): void {
    this.parts.parked.park(message, reason).then(
      () => {
        this.finish(message);
        this.pump();
      },
      (error: unknown) => {
        this.parts.report(`An event could not be parked and is given out again: ${String(error)}`);
        this.enqueue(message);
        this.pump();
      },
    );
  }

  private finish(message: Message): void {
    if (this.closed) return;
    if (message.parkedAt !== undefined) {
      this.replaying.delete(message.parkedAt);
      if (this.replaying.size === 0) this.forgetReplayed();
      return;
    }
    this.unprocessed.delete(message);
    this.checkpoints.count();
  }

  private forgetReplayed(): void {
    this.parts.parked.truncate(this.replayedTo + 1n).catch((error: unknown) => {
      this.parts.report(`Replayed events could not be removed from the parked ones: ${String(error)}`);
    });
  }
}
