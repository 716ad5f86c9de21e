import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { IfSentAndNotNull, stringType } from '@app/platform/http/body-rules.js';
import type { SelfChecking } from '@app/platform/http/body.pipe.js';
import { parseInstant } from '@app/platform/http/instant.js';
import type { FieldError } from '@app/platform/http/problem.js';

const LONGEST_LABEL = 100;

/** Body of POST /api/v1/keys. */
@ApiSchema({ name: 'IssueApiKey' })
export class IssueApiKeyDto implements SelfChecking {
  /** What the key is for, 1 to 100 characters. */
  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_LABEL,
    description: 'What the key is for',
    examples: ['nightly export'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  label?: string | null;

  /** RFC 3339 instant after which the key is refused; left out or null: it does not expire. */
  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    format: 'date-time',
    description: 'When the key stops working; null or absent: never',
    examples: ['2027-12-31T00:00:00Z'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  expiresAt?: string | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    const errors: FieldError[] = [];
    const { label, expiresAt } = this;
    if (typeof label === 'string' && sound('label') && (label === '' || [...label].length > LONGEST_LABEL)) {
      errors.push({
        pointer: '/label',
        code: label === '' ? 'too_short' : 'too_long',
        detail: `must have 1 to ${LONGEST_LABEL} characters`,
      });
    }
    if (typeof expiresAt === 'string' && sound('expiresAt') && parseInstant(expiresAt) === null) {
      const detail = 'must be an RFC 3339 instant such as 2027-12-31T00:00:00Z';
      errors.push({ pointer: '/expiresAt', code: 'invalid_value', detail });
    }
    return errors;
  }
}
