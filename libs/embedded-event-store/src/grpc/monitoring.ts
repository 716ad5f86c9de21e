import type { handleServerStreamingCall } from '@grpc/grpc-js';
import monitoringPb from '@eventstore/db-client/generated/monitoring_pb.js';
import type { StatsReq, StatsResp } from '@eventstore/db-client/generated/monitoring_pb.js';

/** Calls open on the whole server, the one that asks included. */
export const OPEN_CALLS = 'es-grpc-openCalls';

const SHORTEST_PERIOD_MS = 100;

/** Monitoring.Stats: the figures now, and again after each period that the caller asks for, until it leaves. */
export const stats =
  (openCalls: () => number): handleServerStreamingCall<StatsReq, StatsResp> =>
  (call) => {
    const send = (): void => {
      const response = new monitoringPb.StatsResp();
      response.getStatsMap().set(OPEN_CALLS, String(openCalls()));
      call.write(response);
    };
    send();
    const period = Math.max(SHORTEST_PERIOD_MS, Number(call.request.getRefreshTimePeriodInMs()) || 0);
    const timer = setInterval(send, period);
    timer.unref();
    for (const event of ['cancelled', 'close', 'error'] as const) call.on(event, () => clearInterval(timer));
  };
