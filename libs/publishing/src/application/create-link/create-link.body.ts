import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsDefined, IsIn, IsInt, Max, Min } from 'class-validator';
import { IfSent, required } from '#platform/http/body-rules.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../../contracts/events.js';

const SHORTEST_SECONDS = 60;
const LONGEST_SECONDS = 2_592_000;
const HOUR_SECONDS = 3_600;
const LARGEST_VERSION = 999_999_999;

const format = {
  message: `must be one of ${DOCUMENT_FORMATS.join(', ')}`,
  context: { code: 'invalid_format' },
};
const lifetime = {
  message: `must be a whole number of seconds from ${SHORTEST_SECONDS} to ${LONGEST_SECONDS}`,
  context: { code: 'invalid_value' },
};
const wholeVersion = { message: 'must be a whole number from 1', context: { code: 'invalid_value' } };

/** Body of POST …/document/links. */
@ApiSchema({ name: 'CreateDocumentLink' })
export class CreateLinkDto {
  @ApiProperty({
    enum: [...DOCUMENT_FORMATS],
    enumName: 'DocumentFormat',
    description: 'The format that the link gives',
    examples: ['pdf'],
  })
  @IsDefined({ ...required, context: { code: 'invalid_format' } })
  @IsIn(DOCUMENT_FORMATS, format)
  format!: DocumentFormat;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: LARGEST_VERSION,
    description: 'The version that the link gives. Default: the newest when it is read',
    examples: [1],
  })
  @IfSent()
  @IsInt(wholeVersion)
  @Min(1, wholeVersion)
  @Max(LARGEST_VERSION, wholeVersion)
  version?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: SHORTEST_SECONDS,
    maximum: LONGEST_SECONDS,
    default: HOUR_SECONDS,
    description: 'How long the link works, in seconds',
    examples: [86_400],
  })
  @IfSent()
  @IsInt(lifetime)
  @Min(SHORTEST_SECONDS, lifetime)
  @Max(LONGEST_SECONDS, lifetime)
  expiresInSeconds: number = HOUR_SECONDS;
}
