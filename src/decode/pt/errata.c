#include "decode/pt/errata.h"

struct errata errata_of(const struct cpu_identity *cpu)
{
    if (cpu->intel && cpu->family == 0x13 && cpu->model == 0x01) /* Xeon: Diamond Rapids */
        return (struct errata){.bdm70 = true, .skd022 = true, .skz84 = true};
    if (!cpu->intel || cpu->family != 6)
        return (struct errata){.bdm70 = false};
    switch (cpu->model) {
    case 0x3d: /* Broadwell */
    case 0x47:
    case 0x4f:
    case 0x56:
        return (struct errata){.bdm70 = true, .bdm64 = true};
    case 0x4e: /* Skylake, Kaby Lake, Comet Lake */
    case 0x5e:
    case 0x8e:
    case 0x9e:
    case 0xa5:
    case 0xa6:
        return (struct errata){.bdm70 = true, .skd007 = true, .skd010 = true, .skd022 = true};
    case 0x55: /* Xeon: Skylake, Ice Lake, Sapphire Rapids, Granite Rapids, Emerald Rapids */
    case 0x6a:
    case 0x6c:
    case 0x8f:
    case 0xad:
    case 0xae:
    case 0xcf:
        return (struct errata){.bdm70 = true, .skd022 = true, .skz84 = true};
    case 0x66: /* Cannon Lake, Ice Lake, Tiger Lake, Rocket Lake */
    case 0x7d:
    case 0x7e:
    case 0x8c:
    case 0x8d:
    case 0xa7:
    case 0xa8:
        return (struct errata){.bdm70 = true, .skd022 = true};
    case 0x97: /* Alder Lake, Raptor Lake */
    case 0x9a:
    case 0xbf:
    case 0xb7:
    case 0xba:
    case 0xaa: /* Meteor Lake, Arrow Lake, Lunar Lake, Panther Lake */
    case 0xac:
    case 0xb5:
    case 0xbd:
    case 0xc5:
    case 0xc6:
    case 0xcc:
        return (struct errata){.bdm70 = true, .skd022 = true, .apl11 = true};
    case 0x5c: /* Goldmont */
    case 0x5f:
        return (struct errata){.apl11 = true, .apl12 = true};
    case 0x7a: /* Goldmont Plus, Tremont, Gracemont, Crestmont and later */
    case 0x86:
    case 0x96:
    case 0x9c:
    case 0xaf:
    case 0xb6:
    case 0xdd:
        return (struct errata){.apl11 = true};
    default:
        return (struct errata){.bdm70 = false};
    }
}
