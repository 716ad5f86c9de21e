import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfSent, booleanType } from '#platform/http/body-rules.js';

/** Body of POST …/document/republish. */
@ApiSchema({ name: 'RepublishDocument' })
export class RepublishDocumentDto {
  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Makes no version when the newest one has the current texts',
    examples: [true],
  })
  @IfSent()
  @IsBoolean(booleanType)
  onlyIfTextsChanged: boolean = false;
}
