import { Inject, Optional } from '@nestjs/common';
import { CommandHandler, QueryBus, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import { artifactIdOf } from '../../artifacts/artifact-id.js';
import { RepublishDocument, type RepublishResult } from '../../contracts/commands.js';
import { CONTENT_VERSION } from '../../contracts/content-version.js';
import { newestVersion } from '../../domain/publication/publication.decider.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from '../../publication.executor.js';

/** Versions that the document of a reading may have. */
export const MOST_VERSIONS = 20;

/**
 * Requests the next version. The publication's stream decides: of two requests at once, one is recorded, and both are
 * answered with its version. The worker makes it.
 */
@CommandHandler(RepublishDocument)
export class RepublishDocumentHandler implements ICommandHandler<RepublishDocument> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly queries: QueryBus,
    @Optional() private readonly most = MOST_VERSIONS,
  ) {}

  async execute({ readingId, workspaceId, options, by }: RepublishDocument): Promise<RepublishResult> {
    const version = newestVersion((await this.executor.load(readingId)).state) + 1;
    const paper = await this.queries.execute(new GetPaper(workspaceId));
    const at = this.clock.now();
    const decided = await this.executor.execute(
      readingId,
      {
        type: 'RequestNextVersion',
        publication: {
          workspaceId,
          version,
          artifactId: artifactIdOf(readingId, version),
          publishedAt: instant(at),
          paper,
        },
        most: this.most,
        unlessFrom: options.onlyIfTextsChanged ? CONTENT_VERSION : null,
      },
      { intent: `request:${version}`, by, workspaceId, at },
    );
    if (decided.kind === 'accepted') return { outcome: 'requested', version };
    if (decided.kind === 'ignored')
      return decided.reason === 'TextsUnchanged'
        ? { outcome: 'unchanged', version: newestVersion(decided.state) }
        : { outcome: 'under_way', version };
    return decided.code === 'TooManyVersions'
      ? { outcome: 'too_many_versions', most: decided.details.most }
      : { outcome: 'erased' };
  }
}
