package org.statelift.harness;

import static org.statelift.harness.TypeCase.of;

import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import org.apache.flink.api.common.typeinfo.SqlTimeTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;

/** Values that no Arrow column of their type holds, beside one that does: times far away, and halves of characters. */
final class UnheldCases {

    private static final RowType ROW = RowType.of(new LogicalType[] {new BigIntType(), new TimestampType(9)});

    private UnheldCases() {}

    static List<TypeCase<?>> all() {
        Timestamp never = new Timestamp(253_402_300_799_000L);
        never.setNanos(999_999_999);
        TypeInformation<Tuple2<Instant, String>> pair = Types.TUPLE(Types.INSTANT, Types.STRING);
        return List.of(
                of("instant", Types.INSTANT, Instant.MAX, Instant.EPOCH, Instant.MIN),
                of("local_date", Types.LOCAL_DATE, LocalDate.MAX, LocalDate.EPOCH, LocalDate.MIN),
                of("local_date_time", Types.LOCAL_DATE_TIME, LocalDateTime.MAX, LocalDateTime.of(2001, 2, 3, 4, 5),
                        LocalDateTime.MIN),
                of("sql_timestamp", SqlTimeTypeInfo.TIMESTAMP, never, new Timestamp(0)),
                of("pair", pair, Tuple2.of(Instant.MAX, "never"), Tuple2.of(Instant.EPOCH, null)),
                of("row_data", InternalTypeInfo.<RowData>of(ROW), GenericRowData.of(1L, far()),
                                GenericRowData.of(null, null))
                        .shown(row -> TableCases.json(ROW, row)),
                of("halves", Types.STRING, "\ud83d", "whole", "a\ude00b").shown(text -> text.chars().toArray()));
    }

    private static TimestampData far() {
        return TimestampData.fromEpochMillis(253_402_300_799_999L, 999_999);
    }
}
