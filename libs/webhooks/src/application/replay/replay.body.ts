import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsDefined, IsString } from 'class-validator';
import { IfSent, booleanType, required } from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import type { FieldError } from '#platform/http/problem.js';
import { parseInstant } from '#platform/http/instant.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../contracts/event-types.js';
import { REPLAYABLE_STATUSES, type ReplayableStatus } from '../../contracts/replay.js';

const instantDetail = 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z';
const instantType = { message: instantDetail, context: { code: 'invalid_type' } };
const arrayType = { message: 'must be an array', context: { code: 'invalid_type' } };

const memberErrors = (
  name: string,
  members: readonly unknown[],
  allowed: readonly string[],
  code: string,
): FieldError[] => {
  if (members.length === 0)
    return [{ pointer: `/${name}`, code: 'too_short', detail: 'must not be empty: leave it out for all' }];
  return members.flatMap((member, index) =>
    allowed.includes(member as string)
      ? []
      : [{ pointer: `/${name}/${index}`, code, detail: `must be one of ${allowed.join(', ')}` }],
  );
};

/** Body of POST …/replay. */
@ApiSchema({ name: 'ReplayEvents' })
export class ReplayDto implements SelfChecking {
  /** Sends events from this time on (RFC 3339). */
  @ApiProperty({
    format: 'date-time',
    description: 'Sends events from this time on',
    examples: ['2026-04-01T00:00:00Z'],
  })
  @IsDefined(required)
  @IsString(instantType)
  since!: string;

  /** Sends only events before this time; default: now. */
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Sends only events before this time; default: now',
    examples: ['2026-04-04T00:00:00Z'],
  })
  @IfSent()
  @IsString(instantType)
  until?: string;

  /** Default: the types that the endpoint subscribes to. */
  @ApiPropertyOptional({
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] },
    description: 'Default: the types that the endpoint subscribes to',
    examples: [['reading.completed']],
  })
  @IfSent()
  @IsArray(arrayType)
  types?: PublicEventType[];

  /** Outcomes of events at this endpoint; default: all but `succeeded`. */
  @ApiPropertyOptional({
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: [...REPLAYABLE_STATUSES] },
    description: 'Outcomes of events at this endpoint; default: every outcome except a successful delivery',
    examples: [['missing', 'skipped']],
  })
  @IfSent()
  @IsArray(arrayType)
  statuses?: ReplayableStatus[];

  /** Counts and sends nothing. */
  @ApiPropertyOptional({ default: false, description: 'Counts and sends nothing', examples: [true] })
  @IfSent()
  @IsBoolean(booleanType)
  dryRun: boolean = false;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    const { since, until, types, statuses } = this;
    const instants = { since, until };
    const errors = Object.entries(instants).flatMap(([name, text]) =>
      text === undefined || !sound(name) || parseInstant(text) !== null
        ? []
        : [{ pointer: `/${name}`, code: 'invalid_value', detail: instantDetail }],
    );
    const [from, to] = [since, until].map((text) => (typeof text === 'string' ? parseInstant(text) : null));
    if (from && to && from >= to)
      errors.push({ pointer: '/until', code: 'invalid_value', detail: 'must be after since' });
    return [
      ...errors,
      ...(types && sound('types')
        ? memberErrors('types', types, PUBLIC_EVENT_TYPES, 'unsupported_event_type')
        : []),
      ...(statuses && sound('statuses')
        ? memberErrors('statuses', statuses, REPLAYABLE_STATUSES, 'invalid_value')
        : []),
    ];
  }
}
