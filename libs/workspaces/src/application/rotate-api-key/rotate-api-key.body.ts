import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { IfSent } from '#platform/http/body-rules.js';

const LONGEST_OVERLAP_SECONDS = 604_800;
const DAY_SECONDS = 86_400;

const overlap = {
  message: `must be a whole number of seconds from 0 to ${LONGEST_OVERLAP_SECONDS}`,
  context: { code: 'invalid_value' },
};

/** Body of POST /api/v1/keys/{keyId}/rotate. */
@ApiSchema({ name: 'RotateApiKey' })
export class RotateApiKeyDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: DAY_SECONDS,
    description: 'How long the previous key still works, in seconds; 0 revokes it',
    examples: [3_600],
  })
  @IfSent()
  @IsInt(overlap)
  @Min(0, overlap)
  @Max(LONGEST_OVERLAP_SECONDS, overlap)
  overlapSeconds: number = DAY_SECONDS;
}
