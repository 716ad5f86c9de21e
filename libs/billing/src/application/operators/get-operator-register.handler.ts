import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { GetOperatorRegister, type OperatorRegister } from '../../contracts/operators.js';
import { VerifiedRegister } from './operator-register.js';

@QueryHandler(GetOperatorRegister)
export class GetOperatorRegisterHandler implements IQueryHandler<GetOperatorRegister> {
  constructor(private readonly register: VerifiedRegister) {}

  execute(): Promise<OperatorRegister> {
    return this.register.load();
  }
}
