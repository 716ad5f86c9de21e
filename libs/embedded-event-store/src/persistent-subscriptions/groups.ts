import type { LogStore } from '../log/log-store.js';
import type { StreamWriter } from '../streams/stream-writer.js';
import type { CommitSignal } from '../subscriptions/commit-signal.js';
import { Group } from './group.js';
import { ParkedMessages } from './parked-messages.js';
import { CONFIG_STREAM, configEvent } from './config-event.js';
import { decodeGroup, encodeGroup, parkedStreamOf, type GroupRecord } from './settings.js';
import { sourceOf } from './source.js';

export interface GroupsParts {
  readonly store: LogStore;
  readonly writer: StreamWriter;
  readonly signal: CommitSignal;
  readonly now: () => number;
  readonly report: (message: string) => void;
  readonly dropped: (source: string, group: string) => Error;
}

const keyOf = (source: string, group: string): string => JSON.stringify([source, group]);

/** The persistent subscriptions of a server; they survive a restart. */
export class Groups {
  private readonly byKey = new Map<string, Group>();

  constructor(private readonly parts: GroupsParts) {
    for (const text of parts.store.groups()) this.start(decodeGroup(text));
  }

  find(source: string, group: string): Group | undefined {
    return this.byKey.get(keyOf(source, group));
  }

  all(): readonly Group[] {
    return [...this.byKey.values()];
  }

  /** Creates a group. Resolves when it is durable, or with false if the name is taken. */
  async create(record: GroupRecord): Promise<boolean> {
    if (this.find(record.source, record.group)) return false;
    this.start(record);
    await this.save(record);
    await this.publish();
    return true;
  }

  /** Changes the settings of a group. Drops its consumers and keeps its checkpoint. */
  async update(group: Group, change: (record: GroupRecord) => GroupRecord): Promise<void> {
    await group.close();
    const changed = change(group.record);
    this.start(changed);
    await this.save(changed);
    await this.publish();
  }

  async delete(group: Group): Promise<void> {
    const { source, group: name } = group.record;
    this.byKey.delete(keyOf(source, name));
    await group.close();
    await this.parts.store.removeGroup(keyOf(source, name));
    await this.parked(group.record).remove();
    await this.publish();
  }

  /** Drops all consumers. Every group goes on from its last checkpoint. */
  async restart(): Promise<void> {
    for (const group of this.all()) {
      await group.close();
      this.start(group.record);
    }
  }

  /** Ends all groups. Call it before closing the store. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((group) => group.close()));
  }

  private start(record: GroupRecord): void {
    const { store, signal, now, report, dropped } = this.parts;
    const group = new Group(record, {
      source: sourceOf(store, record, now),
      parked: this.parked(record),
      signal,
      save: (changed) => this.save(changed),
      report,
      dropped: () => dropped(record.source, record.group),
    });
    this.byKey.set(keyOf(record.source, record.group), group);
  }

  private parked({ source, group }: GroupRecord): ParkedMessages {
    const { store, writer, now } = this.parts;
    return new ParkedMessages(parkedStreamOf(source, group), store, writer, now);
  }

  /** Appends the settings of all groups to the store's own stream, where clients and operators can follow them. */
  private async publish(): Promise<void> {
    const records = this.all().map(({ record }) => record);
    await this.parts.writer.append(CONFIG_STREAM, 'any', [configEvent(records, this.parts.now())]);
  }

  private save(record: GroupRecord): Promise<void> {
    return this.parts.store.putGroup(keyOf(record.source, record.group), encodeGroup(record));
  }
}
