import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { randomBytes } from 'node:crypto';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK } from '#platform/tokens.js';
import {
  ChoosePaper,
  ChooseWebhookContent,
  type Chosen,
  GetPaper,
  OpenWorkspace,
  type Paper,
  workspaceEvents,
} from '../contracts/index.js';
import { base62, RANDOM_BYTES } from '../domain/api-key.js';
import { workspaceDecider } from '../domain/workspace.decider.js';

/** A workspace that issues and revokes many keys needs a cache: only its new events are read again. */
const CACHED_STREAMS = 64;

/** Runs commands on `workspace-<id>` streams, and on no others. */
export const createWorkspaceExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [workspaceEvents.category]),
    workspaceEvents,
    workspaceDecider,
    { cachedStreams: CACHED_STREAMS },
  );

export type WorkspaceExecutor = ReturnType<typeof createWorkspaceExecutor>;
export const WORKSPACE_EXECUTOR = Symbol('WorkspaceExecutor');

@CommandHandler(OpenWorkspace)
export class OpenWorkspaceHandler implements ICommandHandler<OpenWorkspace> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ name, by }: OpenWorkspace) {
    const workspaceId = `ws_${base62(randomBytes(RANDOM_BYTES), 22)}`;
    await this.executor.execute(
      workspaceId,
      { type: 'OpenWorkspace', workspaceId, name },
      { intent: 'open', by, workspaceId, at: this.clock.now() },
      { fresh: true },
    );
    return { workspaceId };
  }
}

type Outcome = Awaited<ReturnType<WorkspaceExecutor['execute']>>;

const chosen = ({ kind }: Outcome): Chosen => {
  if (kind === 'rejected') return { outcome: 'unknown_workspace' };
  return { outcome: kind === 'accepted' ? 'chosen' : 'unchanged' };
};

@CommandHandler(ChoosePaper)
export class ChoosePaperHandler implements ICommandHandler<ChoosePaper> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, paper, by }: ChoosePaper): Promise<Chosen> {
    return chosen(
      await this.executor.execute(
        workspaceId,
        { type: 'ChoosePaper', paper },
        { intent: `choose-paper:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      ),
    );
  }
}

@QueryHandler(GetPaper)
export class GetPaperHandler implements IQueryHandler<GetPaper> {
  constructor(@Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor) {}

  async execute({ workspaceId }: GetPaper): Promise<Paper> {
    return (await this.executor.load(workspaceId)).state.paper;
  }
}

@CommandHandler(ChooseWebhookContent)
export class ChooseWebhookContentHandler implements ICommandHandler<ChooseWebhookContent> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, content, by }: ChooseWebhookContent): Promise<Chosen> {
    return chosen(
      await this.executor.execute(
        workspaceId,
        { type: 'ChooseWebhookContent', ...content },
        { intent: `choose-content:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      ),
    );
  }
}
