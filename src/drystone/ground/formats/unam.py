"""Reads text files of UNAM (Mexico, "archivo estandar de aceleracion"), with channels in columns.

Lines "KEY : value", with the values of the channels as /250/250/250; the columns are named above a ruler of dashes. Files may
have a few samples more than the number that they state; these are left out, which `about` then states.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

RULER_LINE = r"^(---------\+---------)"


def is_unam(sheet: Sheet) -> bool:
    """Whether the file has the title of UNAM files."""
    return bool(sheet.header_field(r"^(ARCHIVO ESTANDAR DE ACELERACION)"))


def read_unam(sheet: Sheet) -> list[Accelerogram]:
    """The channels of a standard file of UNAM."""
    time_step = sheet.positive_number(
        r"^INTERVALO DE MUESTREO, C1-C6 \(s\)\s*:\s*/([^/\s]*)", "the sampling interval of channel 1"
    )
    count = sheet.whole_number(r"^NUM\. TOTAL DE MUESTRAS, C1-C6\s*:\s*/([^/\s]*)", "the number of samples of channel 1")
    _, unit = sheet.required_field(r"^UNIDADES DE LOS DATOS\s*:\s*(\S+)", "the unit of its values")
    components = sheet.header_field(r"^ORIENTACION C1-C6 \(\S+\)\s*:\s*/(.*)").split("/")
    peaks = sheet.header_field(r"^ACEL\. MAX\.\(Gal\), C1-C6\s*:\s*/(.*)").split("/")
    top, _ = sheet.required_field(RULER_LINE, "where the data begin")
    first = sheet.required_field(RULER_LINE, "where the data begin", top + 1)[0] + 1
    values = sheet.read_table(first, len(components))
    sheet.check_count(first, min(len(values), count), count)
    about = {
        "format": "UNAM",
        "left_out": f"{len(values) - count} samples after the {count} stated" if len(values) > count else "",
        "date": sheet.header_field(r"^FECHA DEL SISMO \S+\s*:(.*)"),
        "station": sheet.header_field(r"^CLAVE DE LA ESTACION\s*:(.*)"),
    }
    peaks += [""] * (len(components) - len(peaks))
    return [
        sheet.make_accelerogram(first, name, time_step, column, unit, about | {"stated_pga": format_peak(peak, "gal")})
        for name, column, peak in zip(components, values[:count].T, peaks, strict=False)
    ]
